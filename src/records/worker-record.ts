import { arrayOf, count, name, object, oneOf, timestamp } from '../base/index.js';
import type { FromSchema } from '../base/index.js';

/** `alive`: reports regularly. `stopping`: finishes its work and claims no more. `gone`: stopped reporting. */
export const workerState = oneOf(['alive', 'stopping', 'gone']);

/** The last report of a worker. */
export const workerSchema = object({
  id: name,
  host: name,
  /** Its version of Sluice. */
  version: name,
  /** The engines that it can run. */
  engines: arrayOf(name),
  /** How many runs it executes at the same time. */
  capacity: count,
  /** How many runs it was executing when it reported. */
  busy: count,
  seen_at: timestamp,
  state: workerState,
});

/** The last report of a worker. */
export type WorkerRecord = FromSchema<typeof workerSchema>;
