/**
 * Reasons a worker could not execute a run, besides the codes of thrown errors. A closed list: `docs/errors.md`
 * explains what to do about each.
 */
export const WORKER_FAILURE_CODES = ['WORKER_GONE', 'RUN_NOT_STARTED'] as const;

/** One of {@link WORKER_FAILURE_CODES}. */
export type WorkerFailureCode = (typeof WORKER_FAILURE_CODES)[number];
