import { performance } from 'node:perf_hooks';
import { expect, it, vi } from 'vitest';
import { createDatabase } from '../../../test/postgres/fresh-database.js';
import { openSite } from '../contract/fixtures/open-site.js';
import { measureClock } from './clock.js';

it('follows the database clock, regardless of the system clock', async () => {
  const realNow = Date.now();
  vi.spyOn(Date, 'now').mockReturnValue(realNow + 60 * 60 * 1000);
  const store = await openSite(await createDatabase());
  const first = store.now();
  vi.restoreAllMocks();
  expect(Math.abs(first - Date.now())).toBeLessThan(30_000);
  expect(store.now()).toBeGreaterThanOrEqual(first);
});

/** Measures a clock that shows one time after another; the second answer arrives `lateMs` after the query. */
async function measureTimes([first, ...later]: readonly number[], lateMs: number) {
  const times = [...later];
  let answeredAt = first ?? 0;
  const clock = await measureClock({
    async query() {
      const now = answeredAt;
      answeredAt = times.shift() ?? now;
      return { rows: [{ now: String(now) }], rowCount: 1 };
    },
  });
  const realNow = performance.now.bind(performance);
  return {
    clock,
    synchronize: async () => {
      const queriedAt = realNow() - lateMs;
      vi.spyOn(performance, 'now').mockReturnValueOnce(queriedAt);
      await clock.synchronize();
      vi.restoreAllMocks();
    },
  };
}

it('is not changed by a late response', async () => {
  const { clock, synchronize } = await measureTimes([1_000_000, 1_000_000], 4000);
  const before = clock.now();
  await synchronize();
  expect(clock.now() - before).toBeLessThan(1000);
});

it('is corrected by a fast response', async () => {
  const { clock, synchronize } = await measureTimes([1_000_000, 5_000_000, 2_000_000], 2);
  await synchronize();
  expect(Math.abs(clock.now() - 5_000_000)).toBeLessThan(1000);
  await synchronize();
  expect(Math.abs(clock.now() - 2_000_000)).toBeLessThan(1000);
});
