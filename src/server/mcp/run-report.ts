import { setTimeout as pause } from 'node:timers/promises';
import type { RunView } from '../api/index.js';
import { anything, count, flag, name, object, omitUndefined, text } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import type { Client } from '../client/index.js';
import { decisionAction, describeWaitingFor, repairLevel, runOutcome, runState } from '../../store/records/index.js';

/** Longer values are omitted; they can be read in the console or over HTTP. */
const MAX_VALUE_LENGTH = 64 * 1024;
/** Only the end of a longer message is returned. */
const MAX_TEXT_LENGTH = 4000;

const usageSchema = object(
  { input_tokens: count, output_tokens: count },
  { cached_input_tokens: count, cost: { type: 'number', minimum: 0 } },
);

/** A run as the tools describe it to a model. */
export const runReportSchema = object(
  {
    run: name,
    state: runState,
    done: { ...flag, description: 'The run has ended.' },
    engine: name,
    next: { ...text, description: 'What to do next.' },
  },
  {
    order: object({ issue_ref: name, run_id: name }),
    status: runOutcome,
    value: { ...anything, description: 'The validated value.' },
    value_left_out: { ...flag, description: 'The value was omitted because it is too large.' },
    text: { ...text, description: "The end of the agent's last message." },
    repair_level: repairLevel,
    error: object({ code: name, message: text }),
    attempts: count,
    model: name,
    usage: usageSchema,
    decision: object({ action: decisionAction, reason: text, result_code: name, next: text }),
    work_result: { ...anything, description: 'The work result that the agent reported.' },
  },
);

/** See {@link runReportSchema}. */
export type RunReport = FromSchema<typeof runReportSchema>;

/** Describes a run and, if it executes an order, the decision. */
export async function describeRun(client: Client, run: string, signal: AbortSignal): Promise<RunReport> {
  return describeView(client, await client.getRun({ id: run, signal }), signal);
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2000;

/** Waits until a run has ended or needs a human, or until the timeout; then describes the run. */
export async function waitForRun(
  client: Client,
  run: string,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<RunReport> {
  const deadline = performance.now() + timeoutMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
    const view = await client.getRun({ id: run, signal });
    const remainingMs = deadline - performance.now();
    if (view.state === 'ended' || view.state === 'waiting' || remainingMs <= 0)
      return describeView(client, view, signal);
    await pause(Math.min(pauseMs, remainingMs), undefined, { signal });
  }
}

async function describeView(client: Client, run: RunView, signal: AbortSignal): Promise<RunReport> {
  const { id, state, engine, order, result } = run;
  const { decision, result: workResult } = (order === null ? undefined : await findOrder(client, order, signal)) ?? {};
  return {
    run: id,
    state,
    done: state === 'ended',
    engine,
    next: decision?.next ?? describeNext(run),
    ...(order === null ? {} : { order }),
    ...(result === null ? {} : describeResult(result)),
    ...(decision === undefined || decision === null ? {} : { decision: pickDecision(decision) }),
    ...(workResult === undefined || workResult === null || isLarge(workResult) ? {} : { work_result: workResult }),
  };
}

function describeNext({ state, waiting_for }: RunView): string {
  if (waiting_for === null) return NEXT[state];
  return `The run is waiting for ${describeWaitingFor(waiting_for)}. Call wait_for_run, or report it to the user.`;
}

const NEXT: Readonly<Record<RunReport['state'], string>> = {
  queued: 'The run is waiting for a worker. Call wait_for_run.',
  running: 'The run is active. Call wait_for_run or follow_run.',
  waiting:
    'The agent is waiting for someone to answer in the console or with "sluice reply". Report it to the user, then call wait_for_run.',
  ended: 'The run has ended.',
};

function describeResult(result: NonNullable<RunView['result']>) {
  const { status, value, text: lastMessage, comment, repair_level, error, attempts, model, usage } = result;
  const message = lastMessage ?? comment;
  return {
    status,
    repair_level,
    attempts,
    ...(value === undefined ? {} : isLarge(value) ? { value_left_out: true } : { value }),
    ...(message === undefined ? {} : { text: message.slice(-MAX_TEXT_LENGTH) }),
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
    ...omitUndefined({ model }),
    ...(usage === undefined ? {} : { usage: pickUsage(usage) }),
  };
}

function isLarge(value: unknown): boolean {
  return JSON.stringify(value).length > MAX_VALUE_LENGTH;
}

function pickUsage(usage: NonNullable<NonNullable<RunView['result']>['usage']>) {
  const { input_tokens, output_tokens, cached_input_tokens, cost } = usage;
  return { input_tokens, output_tokens, ...omitUndefined({ cached_input_tokens, cost }) };
}

function pickDecision({ action, reason, result_code, next }: NonNullable<RunReport['decision']>) {
  return { action, reason, result_code, next };
}

async function findOrder(client: Client, order: NonNullable<RunView['order']>, signal: AbortSignal) {
  const { issue_ref, run_id } = order;
  const { orders } = await client.getIssue({ ref: issue_ref, query: { run_id }, signal });
  return orders.find((view) => view.run_id === run_id);
}
