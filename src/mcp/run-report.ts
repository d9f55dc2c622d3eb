import { setTimeout as pause } from 'node:timers/promises';
import type { RunView } from '../api/index.js';
import { anything, count, flag, name, object, omitUndefined, text } from '../base/index.js';
import type { FromSchema } from '../base/index.js';
import type { Client } from '../client/index.js';
import { decisionAction, describeWaitingFor, repairLevel, runOutcome, runState } from '../records/index.js';

/** A longer value is left out: it can be read in the console or over HTTP. */
const MAX_VALUE_LENGTH = 64 * 1024;
/** Only the end of the agent's last message is kept. */
const MAX_TEXT_LENGTH = 4000;

const used = object(
  { input_tokens: count, output_tokens: count },
  { cached_input_tokens: count, cost: { type: 'number', minimum: 0 } },
);

/** The facts about a run for a model. */
export const runReportSchema = object(
  {
    run: name,
    state: runState,
    done: { ...flag, description: 'The run has ended.' },
    engine: name,
    next: { ...text, description: 'What to do now.' },
  },
  {
    order: object({ issue_ref: name, run_id: name }),
    status: runOutcome,
    value: { ...anything, description: 'The validated value.' },
    value_left_out: { ...flag, description: 'The value is too large for an answer.' },
    text: { ...text, description: "The end of the agent's last message." },
    repair_level: repairLevel,
    error: object({ code: name, message: text }),
    attempts: count,
    model: name,
    usage: used,
    decision: object({ action: decisionAction, reason: text, result_code: name, next: text }),
    work_result: { ...anything, description: 'The work result of the worker.' },
  },
);

/** See {@link runReportSchema}. */
export type RunReport = FromSchema<typeof runReportSchema>;

/** Describes a run and, where it carries an order, what was decided. */
export async function describeRun(client: Client, run: string, signal: AbortSignal): Promise<RunReport> {
  return describe(client, await client.getRun({ id: run, signal }), signal);
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2000;

/** Waits until a run has ended or waits for a person, and describes it; also if neither happened in time. */
export async function waitForRun(
  client: Client,
  run: string,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<RunReport> {
  const until = performance.now() + timeoutMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
    const found = await client.getRun({ id: run, signal });
    const left = until - performance.now();
    if (found.state === 'ended' || found.state === 'waiting' || left <= 0) return describe(client, found, signal);
    await pause(Math.min(pauseMs, left), undefined, { signal });
  }
}

async function describe(client: Client, run: RunView, signal: AbortSignal): Promise<RunReport> {
  const { id, state, engine, order, result } = run;
  const settled = order === null ? undefined : await findOrder(client, order, signal);
  const { decision } = settled ?? {};
  return {
    run: id,
    state,
    done: state === 'ended',
    engine,
    next: decision?.next ?? describeNext(run),
    ...(order === null ? {} : { order }),
    ...(result === null ? {} : describeResult(result)),
    ...(decision === undefined || decision === null ? {} : { decision: pickDecision(decision) }),
    ...(settled?.result === undefined || settled.result === null || isLarge(settled.result)
      ? {}
      : { work_result: settled.result }),
  };
}

function describeNext({ state, waiting_for }: RunView): string {
  if (waiting_for === null) return NEXT[state];
  return `It is waiting for ${describeWaitingFor(waiting_for)}. Call wait_for_run, or report it.`;
}

const NEXT: Readonly<Record<RunReport['state'], string>> = {
  queued: 'It is waiting for a worker. Call wait_for_run.',
  running: 'It is running. Call wait_for_run or follow_run.',
  waiting:
    'The agent is waiting for a person to answer in the console or with "sluice reply". Report it, then call wait_for_run.',
  ended: 'It has ended.',
};

function describeResult(result: NonNullable<RunView['result']>) {
  const { status, value, text: said, comment, repair_level, error, attempts, model, usage } = result;
  const words = said ?? comment;
  return {
    status,
    repair_level,
    attempts,
    ...(value === undefined ? {} : isLarge(value) ? { value_left_out: true } : { value }),
    ...(words === undefined ? {} : { text: words.slice(-MAX_TEXT_LENGTH) }),
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
  const { orders } = await client.getIssue({ ref: order.issue_ref, signal });
  return orders.find(({ run_id }) => run_id === order.run_id);
}
