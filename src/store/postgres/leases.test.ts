import { describe, expect, it } from 'vitest';
import { createDatabase } from '../../../test/postgres/fresh-database.js';
import { eventually } from '../../../test/postgres/eventually.js';
import { openSite } from '../contract/fixtures/open-site.js';
import { NOW, sampleClaim } from '../contract/fixtures/order-samples.js';
import { sampleSpec } from '../contract/fixtures/run-samples.js';
import { openPlain } from './fixtures/open-plain.js';

const RUNS = 200;
const ROUNDS = 20;

describe('renewing the claims of a worker', () => {
  it('writes only to a table whose pages have room, and where no index contains the time', async () => {
    const url = await createDatabase();
    const store = await openSite(url);
    const ids = Array.from({ length: RUNS }, (_, index) => `r${index}`);
    for (const id of ids) {
      await store.createRun({ id, spec: sampleSpec({ workdir: `/${id}` }), state: 'queued', now: NOW });
      await store.claimRun(sampleClaim());
    }
    const database = await openPlain(url);
    for (let round = 1; round <= ROUNDS; round += 1) {
      const renewed = await Promise.all(
        ids.map(async (id) => store.renewRun({ id, workerId: 'w1', leaseMs: 1000, now: NOW + round })),
      );
      expect(renewed.every(({ held }) => held)).toBe(true);
    }
    await store.close();
    // How many of these updates are HOT also depends on the other transactions of the server.
    const indexes = await database.query(
      `SELECT indexdef FROM pg_indexes WHERE schemaname = 'sluice' AND tablename = 'leases'`,
    );
    expect(indexes.rows).toEqual([{ indexdef: expect.stringMatching(/USING btree \(seq\)$/) as string }]);
    const table = await database.query(`SELECT reloptions FROM pg_class WHERE oid = 'sluice.leases'::regclass`);
    expect(table.rows).toEqual([{ reloptions: ['fillfactor=40'] }]);
    // A connection reports what it has done when it closes.
    await eventually(async () => {
      const { rows } = await database.query(
        `SELECT relname, n_tup_upd::integer AS updates FROM pg_stat_user_tables
         WHERE schemaname = 'sluice' AND relname IN ('leases', 'runs') ORDER BY relname`,
      );
      expect(rows).toEqual([
        { relname: 'leases', updates: RUNS * ROUNDS },
        { relname: 'runs', updates: RUNS },
      ]);
    });
    await database.close();
  });
});
