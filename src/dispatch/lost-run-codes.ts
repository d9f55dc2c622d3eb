/**
 * Reasons why a worker could not execute a run, in addition to the codes of thrown errors. A closed list: `docs/errors.md`
 * has each.
 */
export const LOST_RUN_CODES = ['WORKER_GONE', 'RUN_NOT_STARTED'] as const;

/** One of {@link LOST_RUN_CODES}. */
export type LostRunCode = (typeof LOST_RUN_CODES)[number];
