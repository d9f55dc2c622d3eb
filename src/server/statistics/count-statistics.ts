import type { StatisticsView } from '../api/index.js';
import { chooseEarlier, sumCounts } from '../../store/index.js';
import type { InboxHistory, InboxSlot, RunCounts, RunSlot } from '../../store/index.js';
import type { StatisticsSpan } from './statistics-span.js';

type Bucket = StatisticsView['buckets'][number];

/** The data to count, and the current time. */
interface StatisticsSource {
  readonly span: StatisticsSpan;
  readonly runs: readonly RunSlot[];
  readonly inbox: InboxHistory;
  readonly now: number;
}

/** The maximum number of causes counted separately, because causes are untrusted input. */
const MAX_NAMES = 50;

/** Counts the runs and inbox items of each time step. */
export function countStatistics({ span, runs, inbox, now }: StatisticsSource): readonly Bucket[] {
  const { since, until, stepMs } = span;
  const findBucket = (time: number): number => Math.floor((time - since) / stepMs);
  const runsByBucket = groupBy(runs, ({ at }) => findBucket(at));
  const buckets = Math.ceil((until - since) / stepMs);
  // Everything after the span is counted in an extra last bucket.
  const inboxByBucket = groupBy(inbox.slots, ({ at }) => (at >= until ? buckets : findBucket(at)));
  const ends = Array.from({ length: buckets }, (_, index) => Math.min(since + (index + 1) * stepMs, until, now));
  const queues = rewindInbox(inbox, inboxByBucket, ends);
  const toCountedCause = limitNames(MAX_NAMES);

  return queues.map((queue, index) => {
    const start = since + index * stepMs;
    const byEngine = [...groupBy(runsByBucket.get(index) ?? [], ({ engine }) => engine)]
      .map(([engine, slots]) => ({ engine, ...sumCounts(slots.map(({ counts }) => counts)) }))
      .toSorted((one, other) => (one.engine < other.engine ? -1 : 1));
    const openedItems = (inboxByBucket.get(index) ?? []).flatMap(({ counts }) => counts.opened);
    return {
      at: new Date(start).toISOString(),
      runs: byEngine.map(({ engine, outcomes, repair_levels, durations }) => ({
        engine,
        outcomes,
        repair_levels,
        latency_ms: readLatency(durations),
      })),
      usage: byEngine.flatMap(({ engine, usage }) => usage.map((entry) => ({ engine, ...entry }))),
      drift: byEngine.flatMap(({ engine, drift }) => drift.map((entry) => ({ engine, ...entry }))),
      inbox: queue,
      needs_human: [...groupBy(openedItems, ({ cause }) => toCountedCause(cause))].map(([cause, counts]) => ({
        cause,
        count: counts.reduce((sum, { items }) => sum + items, 0),
      })),
    };
  });
}

function readLatency(durations: RunCounts['durations']): Bucket['runs'][number]['latency_ms'] {
  if (durations.length === 0) return null;
  return { p50: computePercentile(durations, 0.5), p95: computePercentile(durations, 0.95) };
}

/**
 * Computes the number of open items at the end of each step. It starts with the currently open items and goes back in
 * time: an item that was resolved later counts as open, and an item that was opened later does not.
 */
function rewindInbox(
  history: InboxHistory,
  slots: ReadonlyMap<number, readonly InboxSlot[]>,
  ends: readonly number[],
): Bucket['inbox'][] {
  let { open, oldest } = history;
  const queues = ends.map((): Bucket['inbox'] => ({ open: 0, oldest_age_ms: null }));
  for (let index = ends.length - 1; index >= 0; index -= 1) {
    for (const { counts } of slots.get(index + 1) ?? []) {
      open += counts.resolved - counts.opened.reduce((sum, { items }) => sum + items, 0);
      oldest = chooseEarlier(oldest, counts.oldest_resolved);
    }
    const age = (ends[index] ?? 0) - (oldest ?? 0);
    if (open > 0 && oldest !== null) queues[index] = { open, oldest_age_ms: Math.max(0, age) };
  }
  return queues;
}

/** Groups values by key, in the order of first occurrence. `Map.groupBy` needs Node.js 21. */
function groupBy<Key, Value>(values: Iterable<Value>, deriveKey: (value: Value) => Key): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const value of values) {
    const key = deriveKey(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

/** Returns the first `limit` distinct names unchanged, and `other` for all further names. */
function limitNames(limit: number): (name: string) => string {
  const knownNames = new Set<string>();
  return (name) => {
    if (knownNames.has(name)) return name;
    if (knownNames.size >= limit) return 'other';
    knownNames.add(name);
    return name;
  };
}

/**
 * Computes the percentile of counted values by nearest rank. Values must be in ascending order; there must be at least
 * one.
 *
 * @example
 * computePercentile([[10, 1], [20, 2], [30, 1]], 0.5) // 20
 */
export function computePercentile(counted: RunCounts['durations'], fraction: number): number {
  const rank = Math.ceil(counted.reduce((sum, [, count]) => sum + count, 0) * fraction);
  let countSoFar = 0;
  return counted.find(([, count]) => (countSoFar += count) >= rank)?.[0] ?? 0;
}
