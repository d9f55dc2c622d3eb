import { arrayOf, count, name, object, oneOf, timestamp } from '../base/index.js';
import type { FromSchema } from '../base/index.js';

/** `alive`: it reports in time. `stopping`: it finishes its work and claims no more. `gone`: it stopped reporting. */
export const workerState = oneOf(['alive', 'stopping', 'gone']);

/** A worker, as it last reported. */
export const workerSchema = object({
  id: name,
  host: name,
  /** The version of Sluice it runs. */
  version: name,
  /** Engines it can run. */
  engines: arrayOf(name),
  /** How many runs it executes at once. */
  capacity: count,
  /** How many it was executing when it reported. */
  busy: count,
  seen_at: timestamp,
  state: workerState,
});

/** A worker, as it last reported. */
export type WorkerRecord = FromSchema<typeof workerSchema>;
