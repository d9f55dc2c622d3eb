import type { StatisticsView } from '../../api/index.js';
import type { InboxFigure, RunFigure } from '../../store/index.js';
import type { StatisticsSpan } from './statistics-span.js';

type Bucket = StatisticsView['buckets'][number];

/** What is counted, and the current time. */
interface Counted {
  readonly span: StatisticsSpan;
  readonly runs: readonly RunFigure[];
  readonly inbox: readonly InboxFigure[];
  readonly now: number;
}

/** Versions and causes come from outside: only this many are counted separately. */
const MOST_NAMES = 50;

/** Counts what happened in each step of time. */
export function countStatistics({ span, runs, inbox, now }: Counted): readonly Bucket[] {
  const { since, until, stepMs } = span;
  const findBucket = (time: number): number => Math.floor((time - since) / stepMs);
  const runsByPlace = groupBy(runs, ({ ended_at }) => findBucket(ended_at));
  const askedByPlace = groupBy(inbox, ({ created_at }) => findBucket(created_at));
  const toCountedVersion = createOther(MOST_NAMES);
  const toCountedCause = createOther(MOST_NAMES);
  const toCountedModel = createOther(MOST_NAMES);

  return Array.from({ length: Math.ceil((until - since) / stepMs) }, (_, place) => {
    const begin = since + place * stepMs;
    const ended = runsByPlace.get(place) ?? [];
    const asked = askedByPlace.get(place) ?? [];
    return {
      at: new Date(begin).toISOString(),
      runs: [...groupBy(ended, ({ engine }) => engine)].map(([engine, some]) => countRuns(engine, some)),
      usage: countUsage(ended, toCountedModel),
      drift: countDrift(ended, toCountedVersion),
      inbox: inboxAt(inbox, Math.min(begin + stepMs, until, now)),
      needs_human: [...groupBy(asked, ({ cause }) => toCountedCause(cause))].map(([cause, { length }]) => ({
        cause,
        count: length,
      })),
    };
  });
}

function countRuns(engine: string, runs: readonly RunFigure[]): Bucket['runs'][number] {
  const outcomes = { success: 0, failed: 0, canceled: 0, comment: 0 };
  const repair_levels = { none: 0, deterministic_generic: 0, schema_aligned: 0 };
  for (const { outcome, repair_level } of runs) {
    outcomes[outcome] += 1;
    repair_levels[repair_level] += 1;
  }
  const latencies = runs
    .flatMap(({ started_at, ended_at }) => (started_at === null ? [] : [Math.max(0, ended_at - started_at)]))
    .toSorted((one, other) => one - other);
  const latency_ms =
    latencies.length === 0 ? null : { p50: percentile(latencies, 0.5), p95: percentile(latencies, 0.95) };
  return { engine, outcomes, repair_levels, latency_ms };
}

/** Sums what runs used, by engine and model. */
function countUsage(runs: readonly RunFigure[], toCountedModel: (model: string) => string): Bucket['usage'] {
  const sums = new Map<string, { -readonly [Key in keyof Bucket['usage'][number]]: Bucket['usage'][number][Key] }>();
  for (const { engine, usage } of runs) {
    if (usage === null) continue;
    const model = usage.model === null ? null : toCountedModel(usage.model);
    const key = JSON.stringify([engine, model]);
    const sum = sums.get(key) ?? {
      engine,
      model,
      runs: 0,
      input_tokens: 0,
      cached_input_tokens: 0,
      output_tokens: 0,
      cost: 0,
    };
    sum.runs += 1;
    sum.input_tokens += usage.input_tokens;
    sum.cached_input_tokens += usage.cached_input_tokens;
    sum.output_tokens += usage.output_tokens;
    sum.cost += Math.max(0, usage.cost ?? 0);
    sums.set(key, sum);
  }
  return [...sums.values()];
}

/** Runs of unknown version are included only if they had drift. */
function countDrift(runs: readonly RunFigure[], toCountedVersion: (version: string) => string): Bucket['drift'] {
  const counts = new Map<string, { -readonly [Key in keyof Bucket['drift'][number]]: Bucket['drift'][number][Key] }>();
  for (const { engine, engine_version, unknown_types, unknown_fields } of runs) {
    if (engine_version === null && unknown_types + unknown_fields === 0) continue;
    const version = engine_version === null ? null : toCountedVersion(engine_version);
    const key = JSON.stringify([engine, version]);
    const count = counts.get(key) ?? { engine, engine_version: version, runs: 0, unknown_types: 0, unknown_fields: 0 };
    count.runs += 1;
    count.unknown_types += unknown_types;
    count.unknown_fields += unknown_fields;
    counts.set(key, count);
  }
  return [...counts.values()];
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
 * The percentile of sorted values by nearest rank; there must be at least one value.
 *
 * @example
 * percentile([10, 20, 30, 40], 0.5) // 20
 */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
