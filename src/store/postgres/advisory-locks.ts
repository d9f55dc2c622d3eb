/**
 * The numbers of advisory locks that stand for one thing in a whole database, together so that no two are the same. Those of folders
 * and worker types are negative (`queue-functions.ts`); each connection that listens holds one of a random number.
 */
export const ADVISORY_LOCKS = {
  /** One process changes the form of the tables at a time. */
  migration: 758_423,
  /** One process counts at a time; others have nothing to do then. */
  counting: 758_425,
  /** Reservations are serialized over all machines, so that each sees what the others hold. */
  budgets: 758_426,
} as const;
