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

/** A database that responds immediately and whose clock has stopped. */
async function measureAt(now: number) {
  return measureClock({ query: async () => ({ rows: [{ now: String(now) }] }) });
}

it('is not changed by a late response', async () => {
  const clock = await measureAt(1_000_000);
  const before = clock.now();
  clock.set(before, performance.now() - 4000);
  expect(clock.now() - before).toBeLessThan(1000);
});

it('is corrected by a fast response', async () => {
  const clock = await measureAt(1_000_000);
  clock.set(5_000_000, performance.now() - 2);
  expect(Math.abs(clock.now() - 5_000_000)).toBeLessThan(1000);
  clock.set(2_000_000, performance.now() - 2);
  expect(Math.abs(clock.now() - 2_000_000)).toBeLessThan(1000);
});
