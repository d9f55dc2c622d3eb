import { arrayOf, count, name, object, oneOf, timestamp } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';

/** `alive`: reports regularly. `stopping`: finishes its runs and claims no more. `gone`: stopped reporting. */
export const workerState = oneOf(['alive', 'stopping', 'gone']);

/** A worker's last report. */
export const workerSchema = object({
  id: name,
  host: name,
  /** The worker's Sluice version. */
  version: name,
  /** The engines it can run. */
  engines: arrayOf(name),
  /** How many runs it executes concurrently. */
  capacity: count,
  /** How many runs it was executing when it reported. */
  busy: count,
  seen_at: timestamp,
  state: workerState,
});

/** A worker's last report. */
export type WorkerRecord = FromSchema<typeof workerSchema>;
