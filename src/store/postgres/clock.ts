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
  let offset: number | undefined;
  /**
   * The database read its clock at some moment between the question and the answer. A busy machine answers late, and most of
   * that time a question waits for a connection: halfway would be wrong by seconds. So an answer corrects only what it disproves.
   */
  const set = (answered: number, asked: number): void => {
    const [least, most] = [answered - performance.now(), answered - asked];
    offset = Math.min(most, Math.max(least, offset ?? (least + most) / 2));
  };
  const asked = performance.now();
  const { rows } = await database.query(`SELECT ${DATABASE_NOW}`);
  set(readColumns(rows[0] ?? {}).number('now'), asked);
  return { now: () => Math.round((offset ?? 0) + performance.now()), set };
}
