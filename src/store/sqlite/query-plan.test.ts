import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { openStore } from '../open-store.js';
import { FIND_NEXT } from './claim-order.js';
import { READ_EVENTS } from './event-log.js';
import { listStatement } from './list-rows.js';
import { IS_OPEN, OPEN_ORDERS } from './order-lists.js';
import { FIND_DUE, NOTE_STRANDED } from './outbox.js';
import { SETTLE_FENCE, SETTLE_ORDER } from './settle-order.js';
import { UPKEEP_STATEMENTS } from './upkeep.js';

// Every commit waits for the disk, which other tests use too.
vi.setConfig({ testTimeout: 60_000 });

async function planOf(sql: string): Promise<string[]> {
  const file = join(await makeFolder({}), 'sluice.db');
  await (await openStore(`sqlite:${file}`)).close();
  const database = new DatabaseSync(file);
  const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { readonly detail: string }[];
  database.close();
  return rows.map(({ detail }) => detail);
}

const lists = {
  'open orders': listStatement(OPEN_ORDERS, 'oldest', [[IS_OPEN]], 7),
  'orders of a state': listStatement('orders', 'newest', [['state = ?', 'settled']], 7),
  'all orders': listStatement('orders', 'newest', [], 7),
  'issues of a state': listStatement('issues', 'newest', [['state = ?', 'review']], 7),
  'the open inbox': listStatement('inbox', 'oldest', [['resolution IS NULL']], 7),
  'messages of a state': listStatement('outbox', 'newest', [['state = ?', 'dead']], 7),
  'executions of an issue': listStatement('executions', 'newest', [['issue_ref = ?', 'x']], 7),
  'executions of a worker': listStatement('executions', 'newest', [['worker = ?', 'x']], 7),
  'executions of a decision': listStatement('executions', 'newest', [['decision = ?', 'x']], 7),
  'runs of a state': listStatement('runs', 'newest', [['state = ?', 'ended']], 7),
};

describe('the query plan of', () => {
  it.each(Object.entries(lists))('%s walks one index in the order asked for', async (_, { sql }) => {
    expect(await planOf(sql)).toEqual([expect.stringMatching(/^SEARCH \w+ USING (?:INDEX|INTEGER PRIMARY KEY)/)]);
  });

  it.each(Object.entries({ SETTLE_FENCE, SETTLE_ORDER, READ_EVENTS }))('%s finds its rows by key', async (_, sql) => {
    const plan = await planOf(sql);
    expect(plan).toHaveLength(1);
    expect(plan[0]).toMatch(/^SEARCH/);
  });

  it.each(Object.entries({ FIND_NEXT, FIND_DUE, NOTE_STRANDED }))('%s looks only at what is open, and never sorts', async (_, sql) => {
    const plan = await planOf(sql);
    expect(plan.join('\n')).toMatch(/USING (?:COVERING )?INDEX (?:orders_waiting|outbox_open)/);
    expect(plan.filter((detail) => /TEMP B-TREE|^SCAN (?:busy|older)/.test(detail))).toEqual([]);
  });

  it.each(Object.entries(UPKEEP_STATEMENTS))('%s, for upkeep, finds its rows by an index', async (_, sql) => {
    const tables = /^(?:SCAN|SEARCH) (?:runs|orders|inbox|outbox|events|results)\b/;
    const plan = (await planOf(sql)).filter((detail) => tables.test(detail));
    expect(plan).not.toEqual([]);
    expect(plan.filter((detail) => !/USING (?:COVERING )?INDEX|PRIMARY KEY/.test(detail))).toEqual(
      // The oldest rows of a table without a condition are found by walking it from its beginning.
      sql === UPKEEP_STATEMENTS.DROP_RESULTS ? ['SCAN results'] : [],
    );
  });
});
