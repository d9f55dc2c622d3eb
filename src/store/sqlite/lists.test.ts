import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { openStore } from '../open-store.js';
import { buildRunSearch, FIND_ISSUE_FLOOR, SEARCH_ISSUES } from '../sql/lists.js';
import { translate } from './database.js';

// Every commit waits for the disk, which other tests use too.
vi.setConfig({ testTimeout: 60_000 });

describe('a search', () => {
  it('scans only the digests, in the requested order, and reads the matching runs', async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    await (await openStore(`sqlite:${file}`)).close();
    const database = new DatabaseSync(file);
    const explain = (sql: string) =>
      (database.prepare(`EXPLAIN QUERY PLAN ${translate(sql)}`).all() as { readonly detail: string }[]).map(
        (row) => row.detail,
      );
    for (const order of ['created_at', 'ended_at'] as const) {
      const { findFloor, search } = buildRunSearch(order);
      expect(explain(findFloor)).toEqual([
        expect.stringMatching(/^SEARCH digest USING COVERING INDEX run_digests_by_/),
      ]);
      const plan = explain(search);
      expect(plan[0]).toMatch(/^SEARCH digest USING INDEX run_digests_by_\w+ \(.*>.* AND .*<.*\)/);
      expect(plan).toContain('SEARCH runs USING INTEGER PRIMARY KEY (rowid=?)');
      expect(plan.filter((detail) => detail.includes('B-TREE'))).toEqual([]);
    }
    expect(explain(FIND_ISSUE_FLOOR)).toEqual(['SEARCH issues USING INTEGER PRIMARY KEY (rowid<?)']);
    expect(explain(SEARCH_ISSUES)[0]).toBe('SEARCH issues USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)');
    database.close();
  });
});
