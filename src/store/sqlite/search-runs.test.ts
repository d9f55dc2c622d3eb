import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { openSite } from '../contract/fixtures/open-site.js';
import { NOW } from '../contract/fixtures/order-samples.js';
import { runResultOf, specOf } from '../contract/fixtures/run-samples.js';
import { openStore } from '../open-store.js';
import { FIND_FLOOR, SEARCH_RUNS } from './search-runs.js';

// Every commit waits for the disk, which other tests use too.
vi.setConfig({ testTimeout: 60_000 });

describe('a search', () => {
  it('looks through the digests alone, in the order asked for, and reads the runs that fit', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    await (await openStore(`sqlite:${file}`)).close();
    const database = new DatabaseSync(file);
    const planOf = (sql: string) =>
      (database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { readonly detail: string }[]).map((row) => row.detail);
    expect(planOf(FIND_FLOOR)).toEqual(['SEARCH run_digests USING INTEGER PRIMARY KEY (rowid<?)']);
    const plan = planOf(SEARCH_RUNS);
    expect(plan[0]).toBe('SEARCH digest USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)');
    expect(plan.at(-1)).toBe('SEARCH runs USING INTEGER PRIMARY KEY (rowid=?)');
    expect(plan.filter((detail) => detail.includes('B-TREE'))).toEqual([]);
    database.close();
  });

  it('finds what an older Sluice has written', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    const store = await openStore(`sqlite:${file}`);
    const spec = specOf({ prompt: 'Mend the WHEEL' });
    await store.createRun({ id: 'r1', spec, state: 'running', workerId: 'w1', now: NOW });
    await store.createRun({ id: 'r2', spec: specOf(), state: 'queued', now: NOW });
    await store.endRun({ id: 'r1', workerId: 'w1', result: runResultOf({ status: 'comment' }), now: NOW });
    await store.close();
    const database = new DatabaseSync(file);
    database.exec('DROP TABLE run_digests; PRAGMA user_version = 2');
    database.close();
    const again = await openSite(`sqlite:${file}`);
    expect((await again.listRuns({ search: 'wheel', outcome: 'comment' })).items).toMatchObject([{ id: 'r1' }]);
    expect((await again.listRuns({ search: 'node' })).items).toHaveLength(2);
  });
});
