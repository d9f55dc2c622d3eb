import type { StatisticsView } from '../../api/index.js';
import { sumCounts } from '../../store/index.js';
import type { InboxFigure, RunCounts, RunSlot } from '../../store/index.js';
import type { StatisticsSpan } from './statistics-span.js';

type Bucket = StatisticsView['buckets'][number];

/** What is counted, and the current time. */
interface Counted {
  readonly span: StatisticsSpan;
  readonly runs: readonly RunSlot[];
  readonly inbox: readonly InboxFigure[];
  readonly now: number;
}

/** Causes come from outside: only this many are counted separately. */
const MOST_NAMES = 50;

/** Counts what happened in each step of time. */
export function countStatistics({ span, runs, inbox, now }: Counted): readonly Bucket[] {
  const { since, until, stepMs } = span;
  const findBucket = (time: number): number => Math.floor((time - since) / stepMs);
  const runsByPlace = groupBy(runs, ({ at }) => findBucket(at));
  const askedByPlace = groupBy(inbox, ({ created_at }) => findBucket(created_at));
  const toCountedCause = createOther(MOST_NAMES);

  return Array.from({ length: Math.ceil((until - since) / stepMs) }, (_, place) => {
    const begin = since + place * stepMs;
    const byEngine = [...groupBy(runsByPlace.get(place) ?? [], ({ engine }) => engine)]
      .map(([engine, slots]) => ({ engine, ...sumCounts(slots.map(({ counts }) => counts)) }))
      .toSorted((one, other) => (one.engine < other.engine ? -1 : 1));
    const asked = askedByPlace.get(place) ?? [];
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
      inbox: inboxAt(inbox, Math.min(begin + stepMs, until, now)),
      needs_human: [...groupBy(asked, ({ cause }) => toCountedCause(cause))].map(([cause, { length }]) => ({
        cause,
        count: length,
      })),
    };
  });
}

function readLatency(durations: RunCounts['durations']): Bucket['runs'][number]['latency_ms'] {
  if (durations.length === 0) return null;
  return { p50: percentile(durations, 0.5), p95: percentile(durations, 0.95) };
}

function inboxAt(inbox: readonly InboxFigure[], moment: number): Bucket['inbox'] {
  let open = 0;
  let oldest = moment;
  for (const { created_at, resolved_at } of inbox) {
    if (created_at >= moment || (resolved_at !== null && resolved_at < moment)) continue;
    open += 1;
    oldest = Math.min(oldest, created_at);
  }
  return { open, oldest_age_ms: open === 0 ? null : moment - oldest };
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
