import type { StatisticsView } from '../../api/index.js';
import type { InboxFigure, RunFigure } from '../../store/index.js';
import { groupBy } from './group-by.js';
import { createOther } from './other.js';
import { percentile } from './percentile.js';
import type { StatisticsSpan } from './statistics-span.js';

type Bucket = StatisticsView['buckets'][number];

/** What is counted, and when: an inbox has no age in the future. */
export interface Counted {
  readonly span: StatisticsSpan;
  readonly runs: readonly RunFigure[];
  readonly inbox: readonly InboxFigure[];
  readonly now: number;
}

/** Versions and causes come from outside: so many are told apart, the others are counted together. */
const MOST_NAMES = 50;

/** Sorts what happened into steps of time. */
export function countStatistics({ span, runs, inbox, now }: Counted): readonly Bucket[] {
  const { since, until, stepMs } = span;
  const placeOf = (time: number): number => Math.floor((time - since) / stepMs);
  const runsByPlace = groupBy(runs, ({ ended_at }) => placeOf(ended_at));
  const askedByPlace = groupBy(inbox, ({ created_at }) => placeOf(created_at));
  const versionOf = createOther(MOST_NAMES);
  const causeOf = createOther(MOST_NAMES);

  return Array.from({ length: Math.ceil((until - since) / stepMs) }, (_, place) => {
    const begin = since + place * stepMs;
    const ended = runsByPlace.get(place) ?? [];
    const asked = askedByPlace.get(place) ?? [];
    return {
      at: new Date(begin).toISOString(),
      runs: [...groupBy(ended, ({ engine }) => engine)].map(([engine, some]) => countRuns(engine, some)),
      drift: countDrift(ended, versionOf),
      inbox: inboxAt(inbox, Math.min(begin + stepMs, until, now)),
      needs_human: [...groupBy(asked, ({ cause }) => causeOf(cause))].map(([cause, { length }]) => ({
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

/** Runs whose version nobody knows are told only if they met something. */
function countDrift(runs: readonly RunFigure[], versionOf: (version: string) => string): Bucket['drift'] {
  const counts = new Map<string, { -readonly [Key in keyof Bucket['drift'][number]]: Bucket['drift'][number][Key] }>();
  for (const { engine, engine_version, unknown_types, unknown_fields } of runs) {
    if (engine_version === null && unknown_types + unknown_fields === 0) continue;
    const version = engine_version === null ? null : versionOf(engine_version);
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
