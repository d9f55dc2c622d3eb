import { performance } from 'node:perf_hooks';
import type { Queryable } from './driver.js';
import { readColumns } from './rows.js';

/** The database clock. Hosts that share the database agree on the time, even if their own clocks differ. */
export interface DatabaseClock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Adjusts the clock to a time from the database, queried at `queriedAt` (from `performance.now()`). */
  readonly set: (databaseTime: number, queriedAt: number) => void;
}

/** Selects the database time as `now`. */
export const DATABASE_NOW = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`;

/**
 * Queries the database time. Between two queries, this process's monotonic clock advances it, so changing the system
 * clock has no effect.
 */
export async function measureClock(database: Queryable): Promise<DatabaseClock> {
  let offset: number | undefined;
  /**
   * The database read its clock at some time between query and response. Under load the response is late, mostly
   * because the query waits for a connection, so assuming the midpoint would be wrong by seconds. The offset changes
   * only if it is outside the possible range.
   */
  const set = (databaseTime: number, queriedAt: number): void => {
    const [least, most] = [databaseTime - performance.now(), databaseTime - queriedAt];
    offset = Math.min(most, Math.max(least, offset ?? (least + most) / 2));
  };
  const queriedAt = performance.now();
  const { rows } = await database.query(`SELECT ${DATABASE_NOW}`);
  set(readColumns(rows[0] ?? {}).number('now'), queriedAt);
  return { now: () => Math.round((offset ?? 0) + performance.now()), set };
}
