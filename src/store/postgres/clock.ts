import { performance } from 'node:perf_hooks';
import type { Queryable } from './database.js';
import { readNumber } from '../rows.js';

const READ_CLOCK = `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`;

/**
 * Measures the database's clock: hosts that share the database agree on the time, even if their own clocks differ.
 * Between two queries, this process's monotonic clock advances the time, not the system clock.
 */
export async function measureClock(database: Queryable) {
  let offset: number | undefined;
  /**
   * The database read its clock at some time between query and response. Under load the response is late, mostly
   * because the query waits for a connection, so assuming the midpoint would be wrong by seconds. The offset changes
   * only if it is outside the possible range.
   */
  async function synchronize(): Promise<void> {
    const queriedAt = performance.now();
    const { rows } = await database.query(READ_CLOCK);
    const databaseTime = readNumber(rows[0] ?? {}, 'now');
    const [least, most] = [databaseTime - performance.now(), databaseTime - queriedAt];
    offset = Math.min(most, Math.max(least, offset ?? (least + most) / 2));
  }
  await synchronize();
  return { now: () => Math.round((offset ?? 0) + performance.now()), synchronize };
}
