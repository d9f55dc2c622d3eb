import { setTimeout as pause } from 'node:timers/promises';
import { arrayOf, flag, name, object, oneOf, ordinal, timestamp } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import type { Client } from '../client/index.js';
import { FCMP_TYPES } from '../../events/index.js';
import type { FcmpEvent } from '../../events/index.js';
import { shorten } from './shorten.js';

/** Longer strings in an event are shortened. */
const MAX_STRING = 2000;
const MAX_ITEMS = 100;
/** Maximum page length in characters of JSON, unless it has only one event. */
const MAX_PAGE = 64 * 1024;
const POLL_MS = 500;

/** One page of a run's events. */
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
