import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import type { ExecutionFilter } from '../ports/index.js';
import { openStore } from '../open-store.js';
import * as budgets from '../sql/budgets.js';
import { UNDECIDED_ORDER } from '../sql/decisions.js';
import { buildExecutionsStatement, buildListStatement, ORDER_STATES } from '../sql/lists.js';
import * as maintenance from '../sql/maintenance.js';
import * as outbox from '../sql/outbox.js';
import * as retention from '../sql/retention.js';
import { FIND_REQUEST } from '../sql/runs.js';
import { SETTLE_ACTIVE } from '../sql/settlements.js';
import { FIND_END, FIND_STORED, READ_EVENTS } from './open.js';
import * as queue from './queue.js';
import { translate } from './database.js';

// Every commit waits for the disk, which other tests use too.
vi.setConfig({ testTimeout: 60_000 });

async function explain(sql: string): Promise<string[]> {
  const file = join(await makeFolder({}), 'sluice.db');
  await (await openStore(`sqlite:${file}`)).close();
  const database = new DatabaseSync(file);
  const rows = database.prepare(`EXPLAIN QUERY PLAN ${translate(sql)}`).all() as { readonly detail: string }[];
  database.close();
  return rows.map(({ detail }) => detail);
}

const lists = {
  'issues by state': buildListStatement({ table: 'issues', order: 'newest', conditions: [['state = ?', 'review']] }, 7),
  'the open inbox': buildListStatement({ table: 'inbox', order: 'oldest', conditions: [['resolution IS NULL']] }, 7),
  'messages by state': buildListStatement({ table: 'outbox', order: 'newest', conditions: [['state = ?', 'dead']] }, 7),
  'messages by issue': buildListStatement(
    { table: 'outbox', order: 'newest', conditions: [['issue_ref = ?', 'x']] },
    7,
  ),
  'items by issue': buildListStatement({ table: 'inbox', order: 'oldest', conditions: [['issue_ref = ?', 'x']] }, 7),
  'resolved items': buildListStatement(
    { table: 'inbox', order: 'oldest', conditions: [['resolution IS NOT NULL']] },
    7,
  ),
  'executions since a time': listExecutions({ since: 'x' }),
  'executions until a time': listExecutions({}, ['x', 0]),
  'executions in a period': listExecutions({ since: 'x' }, ['y', 0]),
  'executions in a period, next page': listExecutions({ since: 'x' }, ['y', 7]),
  'executions by issue': listExecutions({ issueRef: 'x' }, ['y', 7]),
  'executions by run': listExecutions({ runId: 'x' }),
  'executions by worker and time': listExecutions({ worker: 'x', since: 'y' }, ['z', 0]),
  'executions by decision and time': listExecutions({ decision: 'advance', since: 'y' }),
};

/** Run and order lists, with the index that each scans; other rows are then looked up by key. */
const joined = {
  runs_by_state: buildListStatement({ table: 'run_records', order: 'newest', conditions: [['state = ?', 'ended']] }, 7),
  runs_by_engine: buildListStatement(
    { table: 'run_records', order: 'newest', conditions: [['engine = ?', 'codex']] },
    7,
  ),
  orders_open: buildListStatement({ table: 'order_records', order: 'oldest', conditions: [['settled_at IS NULL']] }, 7),
  orders_settled: buildListStatement(
    { table: 'order_records', order: 'newest', conditions: [[ORDER_STATES.settled]] },
    7,
  ),
  orders_canceled: buildListStatement(
    { table: 'order_records', order: 'newest', conditions: [[ORDER_STATES.canceled]] },
    7,
  ),
  orders_by_issue: buildListStatement(
    { table: 'order_records', order: 'newest', conditions: [['issue_ref = ?', 'x'], [ORDER_STATES.settled]] },
    7,
  ),
};

const STATEMENTS = { ...budgets, ...maintenance, ...outbox, ...queue, ...retention };

/** The names of the statements that a module exports. */
type StatementName<Module> = keyof { [Name in keyof Module as Module[Name] extends string ? Name : never]: true };

/** How each maintenance statement must find its rows. A statement without an entry does not compile. */
const MAINTENANCE_INDEXES: Readonly<Record<StatementName<typeof maintenance>, RegExp>> = {
  COUNT_RUNS: /COVERING INDEX runs_by_state/,
  MEASURE_OPEN:
    /COVERING INDEX orders_open[^]*INDEX runs_busy[^]*INDEX orders_entered[^]*COVERING INDEX inbox_open[^]*COVERING INDEX outbox_by_state[^]*INDEX outbox_open[^]*COVERING INDEX outbox_by_state/,
  LIST_ENDED: /INDEX runs_by_end/,
  FIND_HOSTS: /SEARCH runs USING INDEX sqlite_autoindex_runs_1/,
  FIND_PURGED: /SEARCH runs USING INDEX sqlite_autoindex_runs_1/,
  FIND_SETTLED: /SEARCH runs USING INDEX sqlite_autoindex_runs_1/,
  DELETE_CLAIMS: /SEARCH counted USING (?:COVERING )?INDEX counted_by_time/,
};

/** How each statement of retention must find its rows. */
const RETENTION_INDEXES: Readonly<Record<StatementName<typeof retention>, RegExp>> = {
  LIST_DUE: /INDEX runs_unpurged/,
  DROP_EVENTS: /SEARCH event_packs USING COVERING INDEX event_packs_by_position/,
  LIST_PURGED: /SEARCH runs USING INDEX runs_purged/,
  LIST_RECORDS: /SEARCH runs USING INDEX runs_purged/,
  DROP_DELIVERED: /INDEX outbox_by_state/,
  // Without a condition, a table's oldest rows are found by scanning it from the start.
  DROP_RESULTS: /^SCAN results$/m,
};

/** How each claim statement must find its rows: one row at a time, except for claimed runs. */
const QUEUE_INDEXES: Readonly<Record<StatementName<typeof queue>, RegExp>> = {
  COUNT_BUSY: /SCAN runs USING INDEX runs_busy/,
  FIND_ANY:
    /SCAN runs USING (?:COVERING )?INDEX runs_ready[^]*SCAN runs USING (?:COVERING )?INDEX runs_queued_canceled[^]*SEARCH runs USING (?:COVERING )?INDEX runs_deferred/,
  ADMIT_DUE: /SEARCH runs USING (?:COVERING )?INDEX runs_deferred \(not_before>\? AND not_before<\?\)/,
  FIND_NEXT_KIND:
    /SEARCH runs USING INDEX runs_ready \(kind=\? AND parked_on>\?\)[^]*SEARCH runs USING INDEX runs_ready \(kind>\? AND kind<\?\)/,
  FIND_HEAD: /SEARCH runs USING INDEX runs_ready \(kind=\? AND parked_on=\?\)/,
  FIND_CANCELED: /SCAN runs USING INDEX runs_queued_canceled/,
  FIND_BUSY: /SEARCH runs USING INDEX runs_busy \(folder=\?\)/,
};

/** How each budget statement must find its rows: none reads all runs of a day, or runs waiting for another budget. */
const BUDGET_INDEXES: Readonly<Record<StatementName<typeof budgets>, RegExp>> = {
  MEASURE:
    /SEARCH budget_totals USING PRIMARY KEY \(scope=\? AND name=\? AND day>\?\)[^]*SCAN runs USING INDEX runs_busy[^]*SEARCH budget_entries USING PRIMARY KEY \(run=\?\)/,
  COUNT_WAITS_FOR: /SEARCH budget_entries USING COVERING INDEX budget_entries_waiting \(waits_for=\?\)/,
};

function listExecutions(filter: ExecutionFilter, before?: readonly [at: string, seq: number]) {
  return buildExecutionsStatement(filter, before);
}

describe('the query plan of', () => {
  it.each(Object.entries(lists))('%s scans one index in the requested order', async (_, { sql }) => {
    expect(await explain(sql)).toEqual([expect.stringMatching(/^SEARCH \w+ USING (?:INDEX|INTEGER PRIMARY KEY)/)]);
  });

  it.each(Object.entries(joined))('a list scans %s and looks up other rows by key', async (index, { sql }) => {
    const [first, ...others] = await explain(sql);
    expect(first).toMatch(new RegExp(`^(?:SEARCH|SCAN) (?:runs|orders) USING INDEX ${index}\\b`));
    expect(others.filter((detail) => /TEMP B-TREE|^SCAN/.test(detail))).toEqual([]);
  });

  it.each(
    Object.entries({
      SETTLE_ACTIVE: SETTLE_ACTIVE.guard,
      UNDECIDED_ORDER,
      READ_EVENTS,
      FIND_STORED,
      FIND_END,
      FIND_REQUEST,
    }),
  )('%s finds its rows by key', async (_, sql) => {
    const [first, ...others] = await explain(sql);
    expect(first).toMatch(/^SEARCH/);
    expect(others.filter((detail) => /TEMP B-TREE|^SCAN/.test(detail))).toEqual([]);
  });

  it.each(['CLAIM', 'RECORD_STRANDED'] as const)('%s reads only open rows, and never sorts', async (name) => {
    const plan = await explain(STATEMENTS[name]);
    expect(plan.join('\n')).toMatch(/USING (?:COVERING )?INDEX outbox_open/);
    expect(plan.filter((detail) => /TEMP B-TREE|^SCAN older/.test(detail))).toEqual([]);
  });

  it.each(Object.entries(QUEUE_INDEXES))(
    '%s, for a claim, finds its rows by index and does not sort',
    async (name, index) => {
      const plan = await explain(STATEMENTS[name as StatementName<typeof queue>]);
      expect(plan.join('\n')).toMatch(index);
      expect(plan.filter((detail) => /TEMP B-TREE FOR (?:LAST TERM OF )?ORDER BY/.test(detail))).toEqual([]);
    },
  );

  it.each(Object.entries(BUDGET_INDEXES))('%s, for budgets, finds its rows by index', async (name, index) => {
    const plan = await explain(STATEMENTS[name as StatementName<typeof budgets>]);
    expect(plan.join('\n')).toMatch(index);
    expect(plan.filter((detail) => /TEMP B-TREE/.test(detail))).toEqual([]);
  });

  it.each(['LIST_SINKS', 'REDELIVER_ALL'] as const)('%s does not read delivered messages', async (name) => {
    const plan = await explain(STATEMENTS[name]);
    expect(plan.join('\n')).toMatch(/SEARCH \w+ USING INDEX outbox_by_state \(state=\?\)/);
    expect(plan.filter((detail) => /^SCAN (?!json)/.test(detail))).toEqual([]);
  });

  it.each(Object.entries({ ...MAINTENANCE_INDEXES, ...RETENTION_INDEXES }))(
    '%s, for maintenance, uses the index made for it',
    async (name, index) => {
      const plan = await explain(STATEMENTS[name as StatementName<typeof STATEMENTS>]);
      expect(plan.join('\n')).toMatch(index);
      expect(plan.filter((detail) => /TEMP B-TREE/.test(detail))).toEqual([]);
    },
  );
});
