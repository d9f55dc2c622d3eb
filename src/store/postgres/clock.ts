import { performance } from 'node:perf_hooks';
import type { Queryable } from './driver.js';
import { readColumns } from './rows.js';

/** The clock of the database. Machines that share it agree on the time, whatever their own clocks say. */
export interface DatabaseClock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Takes a time that the database has answered to a question asked at `asked`, in `performance.now()`. */
  readonly set: (answered: number, asked: number) => void;
}

/** The time of the database, as a column `now`. */
export const DATABASE_NOW = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`;

/**
 * Asks the database for its time. Between two answers the time is continued by the monotonic clock of this process, which a
 * change of the machine's time does not move.
 */
export async function measureClock(database: Queryable): Promise<DatabaseClock> {
  let offset = 0;
  const set = (answered: number, asked: number): void => {
    // The answer is about as old as half the round trip.
    offset = answered - (asked + performance.now()) / 2;
  };
  const asked = performance.now();
  const { rows } = await database.query(`SELECT ${DATABASE_NOW}`);
  set(readColumns(rows[0] ?? {}).number('now'), asked);
  return { now: () => Math.round(offset + performance.now()), set };
}
