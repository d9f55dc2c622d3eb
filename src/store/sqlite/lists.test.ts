import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { openSite } from '../contract/fixtures/open-site.js';
import { NOW } from '../contract/fixtures/order-samples.js';
import { createRunResult, sampleSpec } from '../contract/fixtures/run-samples.js';
import { openStore } from '../open-store.js';
import { MIGRATIONS } from './migrations.js';
import { FIND_ISSUE_FLOOR, SEARCH_ISSUES, FIND_FLOOR, SEARCH_RUNS } from './lists.js';

// Every commit waits for the disk, which other tests use too.
vi.setConfig({ testTimeout: 60_000 });

describe('a search', () => {
  it('scans only the digests, in the requested order, and reads the matching runs', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    await (await openStore(`sqlite:${file}`)).close();
    const database = new DatabaseSync(file);
    const explain = (sql: string) =>
      (database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { readonly detail: string }[]).map((row) => row.detail);
    expect(explain(FIND_FLOOR)).toEqual(['SEARCH run_digests USING INTEGER PRIMARY KEY (rowid<?)']);
    const plan = explain(SEARCH_RUNS);
    expect(plan[0]).toBe('SEARCH digest USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)');
    expect(plan).toContain('SEARCH runs USING INTEGER PRIMARY KEY (rowid=?)');
    expect(plan.filter((detail) => detail.includes('B-TREE'))).toEqual([]);
    expect(explain(FIND_ISSUE_FLOOR)).toEqual(['SEARCH issues USING INTEGER PRIMARY KEY (rowid<?)']);
    expect(explain(SEARCH_ISSUES)[0]).toBe('SEARCH issues USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)');
    database.close();
  });

  it('finds runs written by an older version', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    const database = new DatabaseSync(file);
    for (const step of MIGRATIONS.slice(0, 2)) database.exec(step);
    const insert = database.prepare(
      `INSERT INTO runs (id, spec, engine, state, created_at, result) VALUES (?, ?, 'command', ?, ?, ?)`,
    );
    const result = JSON.stringify(createRunResult({ status: 'comment' }));
    insert.run('r1', JSON.stringify(sampleSpec({ prompt: 'Mend the WHEEL' })), 'ended', NOW, result);
    insert.run('r2', JSON.stringify(sampleSpec()), 'queued', NOW, null);
    database.exec('PRAGMA application_id = 0x534c4345; PRAGMA user_version = 2');
    database.close();
    const store = await openSite(`sqlite:${file}`);
    expect((await store.listRuns({ search: 'wheel', outcome: 'comment' })).items).toMatchObject([{ id: 'r1' }]);
    expect((await store.listRuns({ search: 'node' })).items).toHaveLength(2);
  });
});
