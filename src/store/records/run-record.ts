import { flag, name, object, oneOf, orNull, timestamp } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import { runResultSchema } from './run-result.js';
import { storedRunSpec } from './run-spec.js';
import { waitingForSchema } from './waiting-for.js';

/** The state of a run. `waiting`: the agent has asked a question that has not been answered yet. */
export const runState = oneOf(['queued', 'running', 'waiting', 'ended']);

const workerIdentitySchema = object({
  /** Unique per claim: one process can have multiple claims. */
  worker_id: name,
  host: name,
  pid: { type: 'integer' },
  /** The process's start time, as reported by the operating system, because process ids are reused. */
  pid_started: orNull({ type: 'string' }),
});

/** One run. If it executes an order, the order is settled when the run ends. */
export const runRecordSchema = object({
  id: name,
  /** For a queued order, only the engine, the folder and the instructions. */
  spec: storedRunSpec,
  state: runState,
  /** The order that this run executes. */
  order: orNull(object({ issue_ref: name, run_id: name })),
  /** The worker that has claimed it; null while it is queued. */
  owner: orNull(workerIdentitySchema),
  /** When the claim expires, in milliseconds since 1970. */
  lease_until: orNull({ type: 'integer' }),
  cancel_requested: flag,
  /** Why a queued run cannot start; null if it only waits for a worker. */
  waiting_for: orNull(waitingForSchema),
  created_at: timestamp,
  /** Recorded just before its process starts; null until then, even if the run is claimed. */
  started_at: orNull(timestamp),
  ended_at: orNull(timestamp),
  result: orNull(runResultSchema),
});

/** See {@link runState}. */
export type RunState = FromSchema<typeof runState>;

/** The worker that made a claim, with enough detail to check after a crash whether its process is still alive. */
export type WorkerIdentity = FromSchema<typeof workerIdentitySchema>;

/** One stored run. */
export type RunRecord = FromSchema<typeof runRecordSchema>;
