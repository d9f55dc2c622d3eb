import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { openSite } from '../contract/fixtures/open-site.js';
import { openStore } from '../open-store.js';
import { sumInboxCounts } from '../inbox-roll-up.js';
import { sumCounts } from '../roll-up.js';
import { LIST_ITEMS_TO_COUNT, LIST_RUN_SLOTS, LIST_TO_COUNT, READ_INBOX_HISTORY } from '../sql/statistics.js';
import { translate } from './database.js';

const STATEMENTS = { LIST_RUN_SLOTS, LIST_TO_COUNT, READ_INBOX_HISTORY, LIST_ITEMS_TO_COUNT };

const PLANS: Readonly<Record<keyof typeof STATEMENTS, readonly RegExp[]>> = {
  LIST_RUN_SLOTS: [
    /SEARCH slot USING PRIMARY KEY \(length=\? AND at>\? AND at<\?\)/,
    // Only runs that have just ended.
    /SCAN runs_to_count/,
    /SEARCH digest USING INTEGER PRIMARY KEY/,
    /SEARCH digest USING INDEX run_digests_by_end \(ended_at>\? AND ended_at<\?\)/,
  ],
  LIST_TO_COUNT: [/SCAN runs_to_count/, /SEARCH digest USING INTEGER PRIMARY KEY/],
  READ_INBOX_HISTORY: [
    /SEARCH slot USING PRIMARY KEY \(length=\? AND at>\? AND at<\?\)/,
    // Only recent items are in this index.
    /SCAN inbox USING INDEX inbox_to_count/,
    /SEARCH inbox USING INDEX inbox_by_creation \(created_at>\? AND created_at<\?\)/,
    /SEARCH inbox USING INDEX inbox_by_resolution \(resolved_at>\? AND resolved_at<\?\)/,
    /(?:SEARCH|SCAN) inbox USING COVERING INDEX inbox_open\b/,
    /(?:SEARCH|SCAN) inbox USING (?:COVERING )?INDEX inbox_open_by_creation/,
  ],
  LIST_ITEMS_TO_COUNT: [/SCAN inbox USING INDEX inbox_to_count/],
};

it.each(Object.entries(STATEMENTS))('%s reads by index, and never sorts', async (name, sql) => {
  const file = join(await makeFolder({}), 'sluice.db');
  await (await openStore(`sqlite:${file}`)).close();
  const database = new DatabaseSync(file);
  const rows = database.prepare(`EXPLAIN QUERY PLAN ${translate(sql)}`).all() as { readonly detail: string }[];
  database.close();
  const plan = rows.map(({ detail }) => detail);
  const steps = PLANS[name as keyof typeof PLANS];
  for (const step of steps) expect(plan).toContainEqual(expect.stringMatching(step));
  const others = plan.filter((detail) => !steps.some((step) => step.test(detail)));
  expect(others.filter((detail) => /TEMP B-TREE|^SCAN (?!range|ended|CONSTANT ROW)/.test(detail))).toEqual([]);
});

const RUNS = 120_000;
const DAY = 86_400_000;
const SINCE = Date.parse('2026-10-01T00:00:00.000Z');

/** Adds runs with ends spread over 30 days. */
function addRuns(file: string): void {
  const database = new DatabaseSync(file);
  database.exec(`
    PRAGMA synchronous = OFF;
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${RUNS - 1})
    INSERT INTO runs (id, spec, engine, state, created_at, started_at, ended_at)
      SELECT 'r' || n, '{}', iif(n % 3 = 0, 'codex', 'claude'), 'ended', n, ${SINCE} + n * 21600 - 4000, ${SINCE} + n * 21600
      FROM numbers;
    INSERT INTO run_digests (seq, engine, outcome, repair_level, created_at, started_at, ended_at, usage)
      SELECT seq, engine, iif(seq % 4 = 0, 'failed', 'success'), 'none', created_at, started_at, ended_at,
        '{"model":"opus","input_tokens":3,"cached_input_tokens":1,"output_tokens":2,"cost":0.5}' FROM runs;
    INSERT INTO runs_to_count SELECT seq FROM runs`);
  database.close();
}

it(
  'none of 120,000 runs is missed before, while or after they are counted in their slots',
  { timeout: 300_000 },
  async () => {
    const file = join(await makeFolder({}), 'sluice.db');
    const store = await openSite(`sqlite:${file}`);
    addRuns(file);
    const read = async (stepMs: number, until = SINCE + 30 * DAY) => {
      const slots = await store.listRunSlots({ since: SINCE, until, stepMs });
      const { outcomes, usage } = sumCounts(slots.map(({ counts }) => counts));
      return { slots: slots.length, outcomes, usage };
    };
    const expected = {
      outcomes: { success: 90_000, failed: 30_000, canceled: 0, comment: 0 },
      usage: [
        {
          model: 'opus',
          runs: RUNS,
          input_tokens: 360_000,
          cached_input_tokens: 120_000,
          output_tokens: 240_000,
          cost: 60_000,
          unpriced_input_tokens: 0,
          unpriced_cached_input_tokens: 0,
          unpriced_output_tokens: 0,
        },
      ],
    };
    expect(await read(DAY)).toMatchObject({ slots: RUNS, ...expected });
    for (let step = 0; step < 20; step += 1) expect(await store.countEndedRuns(1000)).toBe(1000);
    expect(await read(DAY)).toMatchObject(expected);
    let counted: number;
    do counted = await store.countEndedRuns(5000);
    while (counted > 0);
    expect(await read(DAY)).toEqual({ slots: 60, ...expected });
    expect(await read(3_600_000)).toEqual({ slots: 24 * 60, ...expected });
    // The end is within a minute: slots of days, hours and minutes, and the last minute's runs one by one.
    const until = SINCE + 29 * DAY + 5 * 3_600_000 + 7 * 60_000 + 30_001;
    const { slots, outcomes } = await read(DAY, until);
    expect(outcomes.success + outcomes.failed).toBe(Math.floor((until - 1 - SINCE) / 21_600) + 1);
    expect(slots).toBeLessThan(100);
  },
);

const ITEMS = 40_000;

/** Adds items opened over 30 days, nine in ten of which were resolved an hour later. */
function addItems(file: string): void {
  const database = new DatabaseSync(file);
  const time = `strftime('%Y-%m-%dT%H:%M:%fZ', (${SINCE} + n * 64800 + HOURS * 3600000) / 1000.0, 'unixepoch')`;
  database.exec(`
    PRAGMA synchronous = OFF;
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${ITEMS - 1})
    INSERT INTO inbox (id, issue_ref, run_id, item, resolution)
      SELECT 'i' || n, 'local#' || n, 'r', json_object('created_at', ${time.replace('HOURS', '0')}, 'result_code', 'x',
          'reading', json('{"problems":[]}')),
        iif(n % 10 = 0, NULL, json_object('at', ${time.replace('HOURS', '1')}))
      FROM numbers`);
  database.close();
}

it('none of 40,000 inbox items is missed, and few slots are read', async () => {
  const file = join(await makeFolder({}), 'sluice.db');
  const store = await openSite(`sqlite:${file}`);
  addItems(file);
  for (;;) if ((await store.countInboxItems(5000)) === 0) break;
  const until = SINCE + 29 * DAY + 5 * 3_600_000 + 7 * 60_000 + 30_001;
  const { slots, open, oldest } = await store.readInboxHistory({ since: SINCE, until, stepMs: DAY });
  expect({ open, oldest }).toEqual({ open: ITEMS / 10, oldest: SINCE });
  expect(sumInboxCounts(slots.map(({ counts }) => counts))).toMatchObject({
    opened: [{ cause: 'x', items: ITEMS }],
    resolved: (ITEMS * 9) / 10,
  });
  expect(slots.length).toBeLessThan(200);
});
