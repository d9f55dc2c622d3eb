/** Issues. */
export function IssuesPage() {
  return <h1>Issues</h1>;
}
