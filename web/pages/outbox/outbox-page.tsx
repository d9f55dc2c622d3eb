/** Outbox. */
export function OutboxPage() {
  return <h1>Outbox</h1>;
}
