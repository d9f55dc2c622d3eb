import { count, flag, name, object, orNull, timestamp } from '../../../base/index.js';
import type { FromSchema } from '../../../base/index.js';

const milliseconds = { type: 'number', minimum: 0 } as const;

/** Counts for one time slot, which lasts `step_s`. */
const bucketSchema = object({
  /** The start of the slot. */
  at: timestamp,
  /** Runs that ended in it, by engine. */
  runs: {
    type: 'array',
    items: object({
      engine: name,
      outcomes: object({ success: count, failed: count, canceled: count, comment: count }),
      repair_levels: object({ none: count, deterministic_generic: count, schema_aligned: count }),
      /** From start to end, accurate to 1.6 %; null if none of the runs was started. */
      latency_ms: orNull(object({ p50: milliseconds, p95: milliseconds })),
    }),
  },
  /** Usage of these runs by engine and model, as far as the engines report it; `null` for an unknown model. */
  usage: {
    type: 'array',
    items: object({
      engine: name,
      model: orNull({ type: 'string' }),
      runs: count,
      input_tokens: count,
      cached_input_tokens: count,
      output_tokens: count,
      /** In US dollars, for runs whose engine reports it. */
      cost: { type: 'number', minimum: 0 },
    }),
  },
  /** Unknown types and fields by engine version; `null` for an unknown version. */
  drift: {
    type: 'array',
    items: object({
      engine: name,
      engine_version: orNull({ type: 'string' }),
      runs: count,
      unknown_types: count,
      unknown_fields: count,
    }),
  },
  /** Open inbox items at the end of the step, or now if the step has not ended yet. */
  inbox: object({ open: count, oldest_age_ms: orNull(milliseconds) }),
  /** New inbox items, by cause. */
  needs_human: { type: 'array', items: object({ cause: name, count }) },
});

/** Statistics over time. */
export const statisticsSchema = object({
  since: timestamp,
  until: timestamp,
  step_s: count,
  /** Always true: everything is counted. Earlier versions counted only the latest inbox items. */
  complete: flag,
  buckets: { type: 'array', items: bucketSchema },
});

/** See {@link statisticsSchema}. */
export type StatisticsView = FromSchema<typeof statisticsSchema>;
