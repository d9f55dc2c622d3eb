import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { openStore } from '../open-store.js';
import { STATISTICS_STATEMENTS } from './statistics.js';

it.each(Object.entries(STATISTICS_STATEMENTS))('%s walks one index in the order asked for', async (_, sql) => {
  const file = join(await makeFolder({}), 'sluice.db');
  await (await openStore(`sqlite:${file}`)).close();
  const database = new DatabaseSync(file);
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { readonly detail: string }[];
  database.close();
  expect(plan.map(({ detail }) => detail)).toEqual([
    // The newest rows of a table without a condition are found by walking it from its end.
    expect.stringMatching(
      sql === STATISTICS_STATEMENTS.LIST_RECENT_ITEMS ? /^SCAN inbox$/ : /^(?:SEARCH|SCAN) \w+ USING INDEX/,
    ),
  ]);
});
