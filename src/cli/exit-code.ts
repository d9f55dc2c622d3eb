/**
 * How every command ends: it did its job, it did it and the answer is no, it was called wrongly or its surroundings
 * refuse, it met what nobody foresaw, it was interrupted.
 */
export const EXIT = { success: 0, failed: 1, misuse: 2, broken: 70, canceled: 130 } as const;

/** One of {@link EXIT}. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
