/**
 * The numbers of the advisory locks that exist once per database, in one place to keep them distinct. Locks for folders
 * and wrapper types have negative numbers (`queue-functions.ts`); each listening connection holds a lock with a random
 * number.
 */
export const ADVISORY_LOCKS = {
  /** One process at a time migrates the tables. */
  migration: 758_423,
  /** One process at a time counts; the others skip counting. */
  counting: 758_425,
  /** Reservations are serialized across all hosts, so each sees the other shares. */
  budgets: 758_426,
} as const;
