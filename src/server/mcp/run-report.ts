import { setTimeout as pause } from 'node:timers/promises';
import type { RunView } from '../api/index.js';
import {
  anything,
  count,
  flag,
  name,
  object,
  omitUndefined,
  text,
  arrayOf,
  oneOf,
  ordinal,
  timestamp,
  truncate,
} from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import type { Client } from '../client/index.js';
import { decisionAction, describeWaitingFor, repairLevel, runOutcome, runState } from '../../store/records/index.js';
import { FCMP_TYPES, type FcmpEvent } from '../../events/index.js';

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

type RunReport = FromSchema<typeof runReportSchema>;

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

/** Longer strings in an event are shortened. */
const MAX_STRING = 2000;
const MAX_ITEMS = 100;
/** Maximum page length in characters of JSON, unless it has only one event. */
const MAX_PAGE = 64 * 1024;
const POLL_MS = 500;

export const eventPageSchema = object({
  events: arrayOf(
    object(
      { seq: ordinal, at: timestamp, type: oneOf(FCMP_TYPES), data: { type: 'object' } },
      { shortened: { ...flag, description: 'Long strings or lists in this event were shortened.' } },
    ),
  ),
  cursor: { ...name, description: 'Pass it as "cursor" to read the next page.' },
  done: { ...flag, description: 'The run has ended, and this is the last page.' },
});

type EventPage = FromSchema<typeof eventPageSchema>;

interface EventPageOptions {
  /** The number of the last event already read; 0 at the start. */
  readonly after: number;
  readonly limit: number;
  /** How long to wait if there is no new event yet. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** Reads a run's next events. Raw output is omitted: the messages contain it, or the console shows it. */
export async function readEventPage(
  client: Client,
  run: string,
  { after, limit, waitMs, signal }: EventPageOptions,
): Promise<EventPage> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    // Loaded before the events: if the run has ended by now, the next read sees all of its events.
    const { state } = await client.getRun({ id: run, signal });
    const query = { protocol: 'fcmp', from: String(after + 1), limit } as const;
    const { events, next_from } = await client.readHistory({ id: run, query, signal });
    const page = fillPage(events as readonly FcmpEvent[], after);
    const remainingMs = deadline - performance.now();
    const isLastPage = next_from === null && !page.isFull;
    if (page.events.length > 0 || page.last > after || state === 'ended' || remainingMs <= 0) {
      return { events: page.events, cursor: String(page.last), done: state === 'ended' && isLastPage };
    }
    await pause(Math.min(POLL_MS, remainingMs), undefined, { signal });
  }
}

/** Fills a page with as many events as fit, but at least one. */
function fillPage(events: readonly FcmpEvent[], after: number) {
  const page: EventPage['events'][number][] = [];
  let last = after;
  let length = 0;
  for (const { seq, ts, type, data } of events) {
    if (type !== 'raw.stdout' && type !== 'raw.stderr') {
      const { value, isTruncated } = truncateValue(data, { length: MAX_STRING, items: MAX_ITEMS });
      length += JSON.stringify(value).length;
      if (length > MAX_PAGE && page.length > 0) return { events: page, last, isFull: true };
      // The cast is safe: `truncateValue` returns an object for an object.
      page.push({
        seq,
        at: ts,
        type,
        data: value as Readonly<Record<string, unknown>>,
        ...(isTruncated ? { shortened: true } : {}),
      });
    }
    last = seq;
  }
  return { events: page, last, isFull: false };
}

/** Deeper values are replaced with null; events are never this deep. */
const MAX_DEPTH = 64;

/**
 * Truncates every string in a JSON value to `length` characters and every list and object to `items` entries, so one
 * event does not fill a model's context.
 *
 * @example
 * truncateValue({ text: 'abcdef' }, { length: 3, items: 10 }) // { value: { text: 'abc…' }, isTruncated: true }
 */
export function truncateValue(value: unknown, { length, items }: { readonly length: number; readonly items: number }) {
  let isTruncated = false;
  const visit = (part: unknown, depth: number): unknown => {
    if (typeof part === 'string') {
      if (part.length > length) isTruncated = true;
      return truncate(part, length);
    }
    if (typeof part !== 'object' || part === null) return part;
    if (depth >= MAX_DEPTH) {
      isTruncated = true;
      return null;
    }
    if (Array.isArray(part)) {
      if (part.length > items) isTruncated = true;
      return part.slice(0, items).map((item) => visit(item, depth + 1));
    }
    const entries = Object.entries(part);
    if (entries.length > items) isTruncated = true;
    return Object.fromEntries(entries.slice(0, items).map(([key, item]) => [key, visit(item, depth + 1)]));
  };
  return { value: visit(value, 0), isTruncated };
}
