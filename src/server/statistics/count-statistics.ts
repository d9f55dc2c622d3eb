import type { StatisticsView } from '../../api/index.js';
import { findOlder, sumCounts } from '../../store/index.js';
import type { InboxHistory, InboxSlot, RunCounts, RunSlot } from '../../store/index.js';
import type { StatisticsSpan } from './statistics-span.js';

type Bucket = StatisticsView['buckets'][number];

/** The data to count, and the current time. */
interface Counted {
  readonly span: StatisticsSpan;
  readonly runs: readonly RunSlot[];
  readonly inbox: InboxHistory;
  readonly now: number;
}

/** Causes come from outside: only this many are counted separately. */
const MAX_NAMES = 50;

/** Counts what happened in each step of time. */
export function countStatistics({ span, runs, inbox, now }: Counted): readonly Bucket[] {
  const { since, until, stepMs } = span;
  const findBucket = (time: number): number => Math.floor((time - since) / stepMs);
  const runsByPlace = groupBy(runs, ({ at }) => findBucket(at));
  const buckets = Math.ceil((until - since) / stepMs);
  // Events after the span are counted in the place after the last.
  const inboxByPlace = groupBy(inbox.slots, ({ at }) => (at >= until ? buckets : findBucket(at)));
  const ends = Array.from({ length: buckets }, (_, place) => Math.min(since + (place + 1) * stepMs, until, now));
  const queues = rewindInbox(inbox, inboxByPlace, ends);
  const toCountedCause = createOther(MAX_NAMES);

  return queues.map((queue, place) => {
    const begin = since + place * stepMs;
    const byEngine = [...groupBy(runsByPlace.get(place) ?? [], ({ engine }) => engine)]
      .map(([engine, slots]) => ({ engine, ...sumCounts(slots.map(({ counts }) => counts)) }))
      .toSorted((one, other) => (one.engine < other.engine ? -1 : 1));
    const opened = (inboxByPlace.get(place) ?? []).flatMap(({ counts }) => counts.opened);
    return {
      at: new Date(begin).toISOString(),
      runs: byEngine.map(({ engine, outcomes, repair_levels, durations }) => ({
        engine,
        outcomes,
        repair_levels,
        latency_ms: readLatency(durations),
      })),
      usage: byEngine.flatMap(({ engine, usage }) => usage.map((each) => ({ engine, ...each }))),
      drift: byEngine.flatMap(({ engine, drift }) => drift.map((each) => ({ engine, ...each }))),
      inbox: queue,
      needs_human: [...groupBy(opened, ({ cause }) => toCountedCause(cause))].map(([cause, counts]) => ({
        cause,
        count: counts.reduce((sum, { items }) => sum + items, 0),
      })),
    };
  });
}

function readLatency(durations: RunCounts['durations']): Bucket['runs'][number]['latency_ms'] {
  if (durations.length === 0) return null;
  return { p50: percentile(durations, 0.5), p95: percentile(durations, 0.95) };
}

/**
 * Computes what was open at the end of each step, from what is open now: backwards, what was opened is not there yet, and what was resolved is open. An item that was resolved since a moment and is older than it was open then.
 */
function rewindInbox(
  now: InboxHistory,
  slots: ReadonlyMap<number, readonly InboxSlot[]>,
  ends: readonly number[],
): Bucket['inbox'][] {
  let { open, oldest } = now;
  const queues = ends.map((): Bucket['inbox'] => ({ open: 0, oldest_age_ms: null }));
  for (let place = ends.length - 1; place >= 0; place -= 1) {
    for (const { counts } of slots.get(place + 1) ?? []) {
      open += counts.resolved - counts.opened.reduce((sum, { items }) => sum + items, 0);
      oldest = findOlder(oldest, counts.oldest_resolved);
    }
    const age = (ends[place] ?? 0) - (oldest ?? 0);
    if (open > 0 && oldest !== null) queues[place] = { open, oldest_age_ms: Math.max(0, age) };
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

/** Keeps the first `most` names; all further ones become `other`. */
function createOther(most: number): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (known.has(name)) return name;
    if (known.size >= most) return 'other';
    known.add(name);
    return name;
  };
}

/**
 * The percentile of counted values by nearest rank, the smallest first; there must be at least one.
 *
 * @example
 * percentile([[10, 1], [20, 2], [30, 1]], 0.5) // 20
 */
export function percentile(counted: RunCounts['durations'], share: number): number {
  const rank = Math.ceil(counted.reduce((sum, [, count]) => sum + count, 0) * share);
  let seen = 0;
  return counted.find(([, count]) => (seen += count) >= rank)?.[0] ?? 0;
}
