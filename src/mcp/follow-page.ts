import { setTimeout as pause } from 'node:timers/promises';
import { arrayOf, flag, name, object, oneOf, ordinal, timestamp } from '../base/index.js';
import type { FromSchema } from '../base/index.js';
import type { Client } from '../client/index.js';
import { FCMP_TYPES } from '../events/index.js';
import type { FcmpEvent } from '../events/index.js';
import { shorten } from './shorten.js';

/** A string of an event longer than this is cut. */
const MAX_STRING = 2000;
const MAX_ITEMS = 100;
/** A page ends after this many characters of JSON, however few events that is. */
const MAX_PAGE = 64 * 1024;
const POLL_MS = 500;

/** One page of the events of a run. */
export const followPageSchema = object({
  events: arrayOf(
    object(
      { seq: ordinal, at: timestamp, type: oneOf(FCMP_TYPES), data: { type: 'object' } },
      { shortened: { ...flag, description: 'Long strings in this event were cut.' } },
    ),
  ),
  cursor: { ...name, description: 'Where to continue.' },
  done: { ...flag, description: 'The run has ended, and this was the last page.' },
});

type FollowPage = FromSchema<typeof followPageSchema>;

interface FollowOptions {
  /** The number of the last event that is known. */
  readonly after: number;
  readonly limit: number;
  /** How long to wait where there is no event yet. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** Reads the next events of a run. Raw output is left out: it is in the messages, or in the console. */
export async function followPage(
  client: Client,
  run: string,
  { after, limit, waitMs, signal }: FollowOptions,
): Promise<FollowPage> {
  const until = performance.now() + waitMs;
  for (;;) {
    // Asked first: a run that had ended by then has no more events than are read next.
    const { state } = await client.getRun({ id: run, signal });
    const query = { protocol: 'fcmp', from: String(after + 1), limit } as const;
    const { events, next_from } = await client.readHistory({ id: run, query, signal });
    const page = fillPage(events as readonly FcmpEvent[], after);
    const left = until - performance.now();
    const isWhole = next_from === null && !page.isFull;
    if (page.events.length > 0 || page.last > after || state === 'ended' || left <= 0) {
      return { events: page.events, cursor: String(page.last), done: state === 'ended' && isWhole };
    }
    await pause(Math.min(POLL_MS, left), undefined, { signal });
  }
}

/** As many events as a page holds, at least one. */
function fillPage(events: readonly FcmpEvent[], after: number) {
  const page: FollowPage['events'][number][] = [];
  let last = after;
  let length = 0;
  for (const { seq, ts, type, data } of events) {
    if (type !== 'raw.stdout' && type !== 'raw.stderr') {
      const { value, isShortened } = shorten(data, { length: MAX_STRING, items: MAX_ITEMS });
      length += JSON.stringify(value).length;
      if (length > MAX_PAGE && page.length > 0) return { events: page, last, isFull: true };
      // The cast is safe: `shorten` returns an object for an object.
      page.push({
        seq,
        at: ts,
        type,
        data: value as Readonly<Record<string, unknown>>,
        ...(isShortened ? { shortened: true } : {}),
      });
    }
    last = seq;
  }
  return { events: page, last, isFull: false };
}
