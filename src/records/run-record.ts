import { flag, name, object, oneOf, orNull, timestamp } from '../base/index.js';
import type { FromSchema } from '../base/index.js';
import { runResultSchema } from './run-result.js';
import { storedRunSpec } from './run-spec.js';
import { waitingForSchema } from './waiting-for.js';

/** The state of a run. `waiting`: the agent has asked a question that has no answer yet. */
export const runState = oneOf(['queued', 'running', 'waiting', 'ended']);

const workerIdentitySchema = object({
  /** Unique per claim: one process may hold several. */
  worker_id: name,
  host: name,
  pid: { type: 'integer' },
  /** When the process started, as reported by the system; a pid alone is reused. */
  pid_started: orNull({ type: 'string' }),
});

/** One run. A run may carry an order: then ending it settles the order. */
export const runRecordSchema = object({
  id: name,
  /** For an order that is still queued only what is known of it: engine, folder, instructions. */
  spec: storedRunSpec,
  state: runState,
  /** The order this run carries. */
  order: orNull(object({ issue_ref: name, run_id: name })),
  /** The worker that has claimed it; null while it is queued. */
  owner: orNull(workerIdentitySchema),
  /** Milliseconds since 1970; the claim has expired afterwards. */
  lease_until: orNull({ type: 'integer' }),
  cancel_requested: flag,
  /** Why it does not start while it is queued; null if it waits for a worker. */
  waiting_for: orNull(waitingForSchema),
  created_at: timestamp,
  /** When its process may have started; null before that, also while it is claimed. */
  started_at: orNull(timestamp),
  ended_at: orNull(timestamp),
  result: orNull(runResultSchema),
});

/** See {@link runState}. */
export type RunState = FromSchema<typeof runState>;

/** The worker that holds a claim: enough to check, after a crash, whether its process is still alive. */
export type WorkerIdentity = FromSchema<typeof workerIdentitySchema>;

/** One run, as the store keeps it. */
export type RunRecord = FromSchema<typeof runRecordSchema>;
