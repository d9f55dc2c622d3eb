import type { Decision, InboxItem, OutboxMessage, Reading } from '../../records/index.js';
import { createItem } from '../execution.js';
import type { LeadContext } from './lead-context.js';

/**
 * What a person sees of a comment that was given up: the order it is about, with its result, so that accepting it (which
 * writes a new comment) is possible. Null if the order cannot be found.
 */
export async function createDeadLetter(
  { store, clock, newId }: LeadContext,
  message: OutboxMessage,
  error: string,
): Promise<InboxItem | null> {
  const { issue_ref: issueRef, sink, trigger } = message;
  const runId = await findRun(store, trigger);
  const record = runId === undefined ? undefined : await store.findOrder(issueRef, runId);
  if (record === undefined) return null;
  const [execution] = (await store.listExecutions({ issueRef, runId: record.order.run_id, limit: 1 })).items;
  const reading: Reading = {
    source: execution?.result_encoding ?? 'none',
    ...(typeof execution?.parse_path === 'string' ? { path: execution.parse_path } : {}),
    ...(record.result === null ? {} : { result: record.result }),
    problems: execution?.problems ?? [],
  };
  const decision: Decision = {
    action: 'needs-human',
    result_code: 'env_unavailable',
    reason: `Cannot deliver the comment "${trigger}" to "${sink}": ${error}`,
    next: 'Fix the sink. Accepting or rejecting then writes a new comment; retry starts a new run.',
  };
  return createItem({
    id: newId(),
    order: record.order,
    run: record.run,
    exitCode: execution?.exit_code ?? null,
    signal: execution?.signal ?? null,
    reading,
    decision,
    at: new Date(clock()).toISOString(),
  });
}

async function findRun(store: LeadContext['store'], trigger: string): Promise<string | undefined> {
  if (trigger.startsWith('workrun:')) return trigger.slice('workrun:'.length);
  return (await store.findItem(trigger.slice('resolve:'.length)))?.run_id;
}
