import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { openSite } from '../contract/fixtures/open-site.js';
import { openStore } from '../open-store.js';
import { STATISTICS_STATEMENTS } from './statistics.js';

const PLANS = {
  LIST_RUN_FIGURES: /^SEARCH run_digests USING COVERING INDEX run_digests_by_end/,
  // The newest rows of a table without a condition are found by walking it from its end.
  LIST_RECENT_ITEMS: /^SCAN inbox$/,
  LIST_OPEN_ITEMS: /^(?:SEARCH|SCAN) inbox USING INDEX inbox_open/,
} satisfies Record<keyof typeof STATISTICS_STATEMENTS, RegExp>;

it.each(Object.entries(STATISTICS_STATEMENTS))('%s walks one index in the requested order', async (name, sql) => {
  const file = join(await makeFolder({}), 'sluice.db');
  await (await openStore(`sqlite:${file}`)).close();
  const database = new DatabaseSync(file);
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { readonly detail: string }[];
  database.close();
  expect(plan.map(({ detail }) => detail)).toEqual([expect.stringMatching(PLANS[name as keyof typeof PLANS])]);
});

it('figures of many runs are read in parts, each run once, the latest first', async () => {
  const file = join(await makeFolder({}), 'sluice.db');
  const store = await openSite(`sqlite:${file}`);
  const database = new DatabaseSync(file);
  // Many end in the same millisecond.
  database.exec(`
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 4500)
    INSERT INTO runs (id, spec, engine, state, created_at, ended_at)
      SELECT 'r' || n, '{}', 'codex', 'ended', n, n / 7 FROM numbers;
    INSERT INTO run_digests (sequence, engine, outcome, repair_level, unknown_types, created_at, ended_at, words)
      SELECT sequence, engine, 'success', 'none', sequence, created_at, ended_at, '' FROM runs`);
  database.close();
  const span = { since: 0, until: 10_000 };
  const numbers = (await store.listRunFigures({ ...span, limit: 9999 })).map((figure) => figure.unknown_types);
  expect(numbers).toEqual(Array.from({ length: 4500 }, (_, index) => 4500 - index));
  expect(await store.listRunFigures({ ...span, limit: 2001 })).toHaveLength(2001);
  expect(await store.listRunFigures({ ...span, limit: 2000 })).toHaveLength(2000);
});
