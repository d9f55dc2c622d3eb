import { performance } from 'node:perf_hooks';
import type { Queryable } from './driver.js';
import { readColumns } from './rows.js';

/** The clock of the database. Machines that share it agree on the time, whatever their own clocks say. */
export interface DatabaseClock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Asks the database again. */
  readonly measure: () => Promise<void>;
}

/**
 * Asks the database for its time. Between two questions the time is continued by the monotonic clock of this process, which a
 * change of the machine's time does not move.
 */
export async function measureClock(database: Queryable): Promise<DatabaseClock> {
  let offset = 0;
  const measure = async () => {
    const asked = performance.now();
    const { rows } = await database.query(`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`);
    // The answer is about as old as half the round trip.
    offset = readColumns(rows[0] ?? {}).number('now') - (asked + performance.now()) / 2;
  };
  await measure();
  return { now: () => Math.round(offset + performance.now()), measure };
}
