import type { ExecutionRecord, InboxItem, NewOutboxMessage } from '../../records/index.js';

/**
 * Builds an insert of an execution, with its values as the parameters from number `first` on. It runs once per row of
 * `source` and does not change existing rows.
 */
export function buildExecutionInsert(first: number, source: string): string {
  return `INSERT INTO sluice.executions (id, issue_ref, run_id, worker, decision, at, record)
    SELECT ${listParameters(first, 7)} FROM ${source} ON CONFLICT DO NOTHING`;
}

export function listExecutionValues(execution: ExecutionRecord): string[] {
  const { id, issue_ref, run_id, worker, decision, at } = execution;
  return [id, issue_ref, run_id, worker, decision, at, JSON.stringify(execution)];
}

/** Builds an insert of an inbox item. Without an item, its values are null and nothing is inserted. */
export function buildItemInsert(first: number, source: string): string {
  return `INSERT INTO sluice.inbox (id, issue_ref, run_id, item)
    SELECT ${listParameters(first, 4)} FROM ${source} WHERE $${first}::text IS NOT NULL ON CONFLICT DO NOTHING`;
}

export function listItemValues(item: InboxItem | null): (string | null)[] {
  return item === null
    ? [null, null, null, null]
    : [item.id, item.issue_ref, item.run_id, JSON.stringify({ ...item, resolution: null })];
}

/** Builds an insert of messages. The last parameter is the time when they become due. */
export function buildMessagesInsert(first: number, source: string): string {
  const lists = Array.from({ length: 5 }, (_, index) => `$${first + index}::text[]`).join(', ');
  const now = `$${first + 5}::bigint`;
  return `INSERT INTO sluice.outbox (id, sink, issue_ref, trigger, body, state, tries, due_at, created_at)
    SELECT message.id, message.sink, message.issue_ref, message.trigger, message.body, 'waiting', 0, ${now}, ${now}
    FROM ${source}, unnest(${lists}) WITH ORDINALITY AS message (id, sink, issue_ref, trigger, body, place)
    ORDER BY place
    ON CONFLICT DO NOTHING`;
}

export function listMessageValues(messages: readonly NewOutboxMessage[], now: number): (string[] | number)[] {
  return [
    messages.map(({ id }) => id),
    messages.map(({ sink }) => sink),
    messages.map(({ issue_ref: issueRef }) => issueRef),
    messages.map(({ trigger }) => trigger),
    messages.map(({ body }) => JSON.stringify(body)),
    now,
  ];
}

/** A one-row source, for an unconditional insert. */
export const ALWAYS = '(VALUES (true)) AS always';

function listParameters(first: number, count: number): string {
  return Array.from({ length: count }, (_, index) => `$${first + index}::text`).join(', ');
}
