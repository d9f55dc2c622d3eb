import { expect, it, vi } from 'vitest';
import { createDatabase } from '../../../test/postgres/fresh-database.js';
import { openSite } from '../contract/fixtures/open-site.js';

it("goes by the database's clock, whatever the machine's clock says", async () => {
  const realNow = Date.now();
  vi.spyOn(Date, 'now').mockReturnValue(realNow + 60 * 60 * 1000);
  const store = await openSite(await createDatabase());
  const first = store.now();
  vi.restoreAllMocks();
  expect(Math.abs(first - Date.now())).toBeLessThan(30_000);
  expect(store.now()).toBeGreaterThanOrEqual(first);
});
