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

/** The fields of an inbox item that statistics count. Times are milliseconds since 1970. */
interface InboxSample {
  readonly created_at: number;
  readonly resolved_at: number | null;
  /** The result's first problem, or the decision's result code if it has no problem. */
  readonly cause: string;
}

/** Longer causes are truncated: a result code can be any string. */
const MAX_CAUSE_LENGTH = 100;

export function readInboxSample({ created_at, resolution, reading, result_code }: InboxItem): InboxSample {
  return {
    created_at: readTime(created_at),
    resolved_at: resolution === null ? null : readTime(resolution.at),
    cause: (reading.problems[0]?.code ?? result_code).slice(0, MAX_CAUSE_LENGTH),
  };
}

/** Parses a time. A damaged time must not prevent an item from being counted. */
function readTime(text: string): number {
  const time = Date.parse(text);
  return Number.isNaN(time) ? 0 : time;
}

export interface StoredItem {
  readonly item: InboxItem;
  /** Whether its opening is counted in its slots. */
  readonly isOpeningCounted: boolean;
}

/** Lists an item's changes that are not counted in its slots yet. */
export function listUncounted({ item, isOpeningCounted }: StoredItem): InboxSlot[] {
  const sample = readInboxSample(item);
  return [...(isOpeningCounted ? [] : [countOpened(sample)]), ...countResolved(sample)];
}

/**
 * A part of a history, as a store reads it. A `new` item has changes that are not counted in slots yet. An `opened` or
 * `resolved` item changed in the last minute of the period, whose slot is not read.
 */
export type HistoryPart =
  | ({ readonly part: 'slot' } & InboxSlot)
  | ({ readonly part: 'open' } & Pick<InboxHistory, 'open' | 'oldest'>)
  | ({ readonly part: 'new' | 'opened' | 'resolved' } & StoredItem);

export function joinHistory(parts: readonly HistoryPart[], since: number): InboxHistory {
  let [open, oldest]: [number, number | null] = [0, null];
  const slots = parts.flatMap((part): InboxSlot[] => {
    switch (part.part) {
      case 'slot':
        return [part];
      case 'open':
        open += part.open;
        oldest = chooseEarlier(oldest, part.oldest);
        return [];
      case 'opened':
        return [countOpened(readInboxSample(part.item))];
      case 'resolved':
        return countResolved(readInboxSample(part.item));
      case 'new': {
        const { created_at, resolved_at } = readInboxSample(part.item);
        if (resolved_at === null) oldest = chooseEarlier(oldest, created_at);
        return listUncounted(part).filter(({ at }) => at >= since);
      }
    }
  });
  return { slots, open, oldest };
}

function countOpened({ created_at: at, cause }: InboxSample): InboxSlot {
  return { at, counts: { opened: [{ cause, items: 1 }], resolved: 0, oldest_resolved: null } };
}

function countResolved({ created_at, resolved_at: at }: InboxSample): InboxSlot[] {
  return at === null ? [] : [{ at, counts: { opened: [], resolved: 1, oldest_resolved: created_at } }];
}

/** Adds up counts. */
export function sumInboxCounts(all: Iterable<InboxCounts>): InboxCounts {
  const opened = createSums<CauseCount>('cause', ['items']);
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
