import {
  arrayOf,
  flag,
  name,
  object,
  oneOf,
  text,
  count,
  orNull,
  timestamp,
  type FromSchema,
} from '../../../base/index.js';
import { approvalRulesSchema } from '../../../store/records/index.js';

/** With HTTPS, the prefix makes browsers accept the cookie only over HTTPS, for this host and the root path. */
export function getSessionCookieName(https: boolean): string {
  return https ? '__Host-sluice_session' : 'sluice_session';
}

export const sessionSchema = object({
  /** The token's name; `local` if no tokens are configured, `anonymous` for a caller without a token. */
  name,
  scopes: { type: 'array', items: oneOf(['read', 'run', 'decide', 'worker']) },
  /** Whether tokens are configured, so a page must ask for one. */
  needs_token: flag,
});

export const settingsSchema = object({
  /** For `permissions: ask`; the first match wins. */
  approvals: approvalRulesSchema,
  sinks: arrayOf(object({ name, type: name })),
  tokens: arrayOf(object({ name, scopes: sessionSchema.properties.scopes })),
});

/** Why a request failed: RFC 9457 problem details with a code. */
export const problemSchema = object(
  {
    /** `urn:sluice:problem:<code>`. */
    type: name,
    title: name,
    status: { type: 'integer', minimum: 400, maximum: 599 },
    /** What happened, and what to do. */
    detail: text,
    /** As in docs/errors.md. */
    code: name,
    request_id: name,
  },
  {
    issues: { type: 'array', items: object({ path: text, message: text }) },
    active_run_id: { anyOf: [name, { type: 'null' }] },
  },
);

export type Problem = FromSchema<typeof problemSchema>;

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
      /** Input and output tokens of the other runs. */
      unpriced_tokens: count,
      /** Their cost by the configured `prices`; `null` if the model has no price. */
      estimated_cost: orNull({ type: 'number', minimum: 0 }),
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

export const statisticsSchema = object({
  since: timestamp,
  until: timestamp,
  step_s: count,
  buckets: { type: 'array', items: bucketSchema },
});

export type StatisticsView = FromSchema<typeof statisticsSchema>;
