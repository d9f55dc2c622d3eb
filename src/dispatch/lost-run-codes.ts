/** Why a worker could not do a run; beside the codes of errors that were thrown. A closed list: `docs/errors.md` has each. */
export const LOST_RUN_CODES = ['WORKER_GONE', 'RUN_NOT_STARTED'] as const;

/** One of {@link LOST_RUN_CODES}. */
export type LostRunCode = (typeof LOST_RUN_CODES)[number];
