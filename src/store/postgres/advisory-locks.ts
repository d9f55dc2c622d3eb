/**
 * The numbers of the advisory locks that exist once per database, in one place so that no two are the same. Locks for folders and
 * types of wrapper have negative numbers (`queue-functions.ts`); each listening connection holds a lock with a random number.
 */
export const ADVISORY_LOCKS = {
  /** One process at a time migrates the tables. */
  migration: 758_423,
  /** One process at a time counts; the others skip it. */
  counting: 758_425,
  /** Reservations are serialized across all machines, so that each sees the shares of the others. */
  budgets: 758_426,
} as const;
