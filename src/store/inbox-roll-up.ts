import type { InboxItem } from './records/index.js';
import { createSums, splitPeriod, type StatisticsPeriod, type SlotRange } from './roll-up.js';

/** Counts of opened and resolved inbox items in a time slot. */
export interface InboxCounts {
  /** New items, by cause. */
  readonly opened: readonly CauseCount[];
  readonly resolved: number;
  /** When the oldest of the resolved items was opened, or null. */
  readonly oldest_resolved: number | null;
}

/** The number of new items with the same cause. */
export interface CauseCount {
  readonly cause: string;
  readonly items: number;
}

/** Counts of items at a time, in milliseconds since 1970. */
export interface InboxSlot {
  /** Any time within the step that counts the items, or a time after the period. */
  readonly at: number;
  readonly counts: InboxCounts;
}

/**
 * The number of items open now, and all changes since the start of a period. The number of items open at an earlier
 * time is the number open now, minus the items opened since, plus the items resolved since.
 */
export interface InboxHistory {
  readonly slots: readonly InboxSlot[];
  readonly open: number;
  /** When the oldest open item was opened. */
  readonly oldest: number | null;
}

/** Longer causes are truncated: a result code can be any string. */
const MAX_CAUSE_LENGTH = 100;

/** Counts the opening of an item, and its resolution; the cause is the first problem, or the decision's result code. */
export function countItem({ created_at, resolution, reading, result_code }: InboxItem): {
  readonly opened: InboxSlot;
  readonly resolved: InboxSlot | undefined;
} {
  const cause = (reading.problems[0]?.code ?? result_code).slice(0, MAX_CAUSE_LENGTH);
  const createdAt = readTime(created_at);
  return {
    opened: { at: createdAt, counts: { opened: [{ cause, items: 1 }], resolved: 0, oldest_resolved: null } },
    resolved:
      resolution === null
        ? undefined
        : {
            at: readTime(resolution.at),
            counts: { opened: [], resolved: 1, oldest_resolved: createdAt },
          },
  };
}

/** Parses a time. A damaged time must not prevent an item from being counted. */
function readTime(text: string): number {
  const time = Date.parse(text);
  return Number.isNaN(time) ? 0 : time;
}

/** Adds up counts. */
export function sumInboxCounts(all: Iterable<InboxCounts>): InboxCounts {
  const opened = createSums<CauseCount>('cause');
  let resolved = 0;
  let oldest: number | null = null;
  for (const counts of all) {
    for (const each of counts.opened) opened.add(each);
    resolved += counts.resolved;
    oldest = chooseEarlier(oldest, counts.oldest_resolved);
  }
  return { opened: opened.list(), resolved, oldest_resolved: oldest };
}

/** Returns the earlier of two times, either of which can be missing. */
export function chooseEarlier(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Splits a period, and everything after it, into slots, except for the minute in which it ends. */
export function splitHistory(period: StatisticsPeriod): {
  readonly ranges: readonly SlotRange[];
  /** The period's last minute, if the period ends within a minute; otherwise empty. */
  readonly lastMinute: { readonly since: number; readonly until: number };
} {
  const { ranges, coveredUntil } = splitPeriod(period);
  const minute = roundUp(period.until, MINUTE_MS);
  const hour = roundUp(minute, HOUR_MS);
  const day = roundUp(hour, DAY_MS);
  const after = [
    { length: MINUTE_MS, since: minute, until: hour },
    { length: HOUR_MS, since: hour, until: day },
    { length: DAY_MS, since: day, until: Number.MAX_SAFE_INTEGER },
  ].filter(({ since, until }) => since < until);
  return { ranges: [...ranges, ...after], lastMinute: { since: coveredUntil, until: minute } };
}

function roundUp(time: number, length: number): number {
  return Math.ceil(time / length) * length;
}
