import type { RunResult } from './records/index.js';
import type { RunUsage } from './run-digest.js';

/** The countable fields of an ended run, with times in milliseconds since 1970: specs and results can have any size. */
export interface RunSample {
  readonly engine: string;
  readonly outcome: RunResult['status'];
  readonly repair_level: RunResult['repair_level'];
  /** Null if unknown. */
  readonly engine_version: string | null;
  readonly unknown_types: number;
  readonly unknown_fields: number;
  /** Null if the engine does not report it, and for cached results. */
  readonly usage: RunUsage | null;
  readonly started_at: number | null;
  readonly ended_at: number;
}

/** Counts of one engine's runs that ended in the same time slot. */
export interface RunCounts {
  readonly outcomes: Readonly<Record<RunSample['outcome'], number>>;
  readonly repair_levels: Readonly<Record<RunSample['repair_level'], number>>;
  /** Rounded durations in milliseconds, and how many runs took that long; shortest first. */
  readonly durations: readonly (readonly [ms: number, runs: number])[];
  /** The runs' usage, by model. */
  readonly usage: readonly ModelUsage[];
  /** Runs with a known version, or with unsupported types or fields, by version. */
  readonly drift: readonly VersionDrift[];
}

/** A model's usage; `model` is null if unknown. */
export interface ModelUsage extends Omit<RunUsage, 'cost'> {
  readonly runs: number;
  /** In US dollars, for runs whose engine reports it. */
  readonly cost: number;
  /** The tokens of the other runs. */
  readonly unpriced_input_tokens: number;
  readonly unpriced_cached_input_tokens: number;
  readonly unpriced_output_tokens: number;
}

/** Unsupported types and fields of one engine version; `engine_version` is null if unknown. */
export interface VersionDrift extends Pick<RunSample, 'engine_version' | 'unknown_types' | 'unknown_fields'> {
  readonly runs: number;
}

/** An engine's counts at a given time. */
export interface RunSlot {
  /** Any time within the step that counts the runs. */
  readonly at: number;
  readonly engine: string;
  readonly counts: RunCounts;
}

/** A period in equal steps. A step is a multiple of a minute; above an hour, of an hour; above a day, of a day. */
export interface StatisticsPeriod {
  readonly since: number;
  readonly until: number;
  readonly stepMs: number;
}

/** Versions and models are untrusted, so only this many per slot are counted separately. */
const MAX_NAMES = 50;
const OTHER = 'other';

/** Returns the counts of a single run. */
export function countRun({ outcome, repair_level, started_at, ended_at, usage, ...sample }: RunSample): RunCounts {
  const { engine_version, unknown_types, unknown_fields } = sample;
  const hasDrift = engine_version !== null || unknown_types + unknown_fields > 0;
  return {
    outcomes: { success: 0, failed: 0, canceled: 0, comment: 0, [outcome]: 1 },
    repair_levels: { none: 0, deterministic_generic: 0, schema_aligned: 0, [repair_level]: 1 },
    durations: started_at === null ? [] : [[roundDuration(ended_at - started_at), 1]],
    usage: usage === null ? [] : [countUsage(usage)],
    drift: hasDrift ? [{ engine_version, runs: 1, unknown_types, unknown_fields }] : [],
  };
}

function countUsage(usage: RunUsage): ModelUsage {
  const isUnpriced = usage.cost === null;
  return {
    ...usage,
    runs: 1,
    cost: Math.max(0, usage.cost ?? 0),
    unpriced_input_tokens: isUnpriced ? usage.input_tokens : 0,
    unpriced_cached_input_tokens: isUnpriced ? usage.cached_input_tokens : 0,
    unpriced_output_tokens: isUnpriced ? usage.output_tokens : 0,
  };
}

/** Creates the slot of a single run, at the time it ended. */
export function toRunSlot(sample: RunSample): RunSlot {
  return { at: sample.ended_at, engine: sample.engine, counts: countRun(sample) };
}

/** Adds up counts. */
export function sumCounts(all: Iterable<RunCounts>): RunCounts {
  const outcomes = { success: 0, failed: 0, canceled: 0, comment: 0 };
  const repairLevels = { none: 0, deterministic_generic: 0, schema_aligned: 0 };
  const durations = new Map<number, number>();
  const usage = createSums<ModelUsage>('model');
  const drift = createSums<VersionDrift>('engine_version');
  for (const counts of all) {
    addTo(outcomes, counts.outcomes);
    addTo(repairLevels, counts.repair_levels);
    for (const [ms, runs] of counts.durations) durations.set(ms, (durations.get(ms) ?? 0) + runs);
    for (const each of counts.usage) usage.add(each);
    for (const each of counts.drift) drift.add(each);
  }
  return {
    outcomes,
    repair_levels: repairLevels,
    durations: [...durations].toSorted(([one], [other]) => one - other),
    usage: usage.list(),
    drift: drift.list(),
  };
}

function addTo<Key extends string>(sums: Record<Key, number>, added: Readonly<Record<Key, number>>): void {
  for (const key of Object.keys(sums) as Key[]) sums[key] += added[key];
}

/** Creates the sums of entries with the same name; all other fields are numbers. */
export function createSums<Entry extends object>(nameKey: keyof Entry) {
  const sums = new Map<unknown, Entry>();
  const chooseName = (name: unknown): unknown =>
    name === null || sums.has(name) || sums.size < MAX_NAMES ? name : OTHER;
  return {
    add(entry: Entry): void {
      const name = chooseName(entry[nameKey]);
      const sum = sums.get(name);
      const added = (Object.keys(entry) as (keyof Entry)[])
        .filter((key) => key !== nameKey)
        .map((key) => [key, Number(sum?.[key] ?? 0) + Number(entry[key])] as const);
      sums.set(name, { ...entry, [nameKey]: name, ...Object.fromEntries(added) });
    },
    list: (): Entry[] => [...sums.values()],
  };
}

/** Durations are stored with this many binary digits: exact below 64 ms, at most 1.6 % off above. */
const DURATION_DIGITS = 6;

/**
 * Rounds a duration, so thousands of runs have few distinct durations.
 *
 * @example
 * roundDuration(4000) // 4032
 */
export function roundDuration(ms: number): number {
  const integer = Math.max(0, Math.round(ms));
  const unit = 2 ** Math.max(0, Math.floor(Math.log2(Math.max(1, integer))) + 1 - DURATION_DIGITS);
  return Math.round(integer / unit) * unit;
}

/** The slot lengths: a run is counted in one slot of each length. */
const SLOT_LENGTHS = [86_400_000, 3_600_000, 60_000] as const;

function findSlots(time: number): { readonly length: number; readonly at: number }[] {
  return SLOT_LENGTHS.map((length) => ({ length, at: Math.floor(time / length) * length }));
}

/** Slots of one length, from `since` up to but not including `until`. */
export interface SlotRange {
  readonly length: number;
  readonly since: number;
  readonly until: number;
}

/** Splits a period into the longest slots that fit into its steps. Remaining seconds are not covered. */
export function splitPeriod({ since, until, stepMs }: StatisticsPeriod): {
  readonly ranges: readonly SlotRange[];
  /** The end of the last slot. */
  readonly coveredUntil: number;
} {
  const ranges: SlotRange[] = [];
  let from = since;
  for (const length of SLOT_LENGTHS) {
    if (stepMs % length !== 0 && length > 60_000) continue;
    const end = Math.floor(until / length) * length;
    if (end > from) ranges.push({ length, since: from, until: end });
    from = Math.max(from, end);
  }
  return { ranges, coveredUntil: from };
}

interface SlotAddition<Counts> {
  readonly length: number;
  readonly at: number;
  /** Undefined for inbox items. */
  readonly engine: string | undefined;
  readonly counts: Counts[];
}

/** Groups counts by slot, and run counts also by engine. */
export function groupBySlot<Counts>(
  counted: readonly { readonly at: number; readonly engine?: string; readonly counts: Counts }[],
): SlotAddition<Counts>[] {
  const slots = new Map<string, SlotAddition<Counts>>();
  for (const { at: time, engine, counts } of counted) {
    for (const { length, at } of findSlots(time)) {
      const key = `${length} ${at} ${engine}`;
      const slot = slots.get(key) ?? { length, at, engine, counts: [] };
      slot.counts.push(counts);
      slots.set(key, slot);
    }
  }
  return [...slots.values()];
}
