import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import {
  sampleExecution,
  sampleMessage,
  sampleSettlement,
  sampleSubmission,
} from '../src/store/contract/fixtures/order-samples.js';
import type { OrderRecord } from '../src/store/records/order-record.js';
import type { Connection } from '../src/store/sqlite/driver.js';
import type { Store } from '../src/store/store.js';
import { compare, type Subject } from './measure.js';
import { atMost, formatMs, formatRatio, type PartResult } from './part-result.js';
import { openSqliteStore } from './product.js';

const LIMIT = 1.5;
/** An index with a thousand times the rows is two levels deeper; a higher ratio would mean a scan. */
const MAX_GROWTH = 1.5;
const SETTLED = 40_000;
const OPEN = 1000;
const EXECUTIONS = 1_000_000;

/** Measures the store compared with bare statements, including with large amounts of data. */
export async function runStore(): Promise<PartResult> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  try {
    const settling = await measureSettling(folder);
    const listing = await measureListing(folder);
    return {
      title: 'Store',
      targets: [
        atMost('settling an order', settling.ratio, LIMIT, 'the bare statements of the same rows'),
        atMost(
          `settling an order with ${EXECUTIONS.toLocaleString('en-US')} executions`,
          settling.growth,
          MAX_GROWTH,
          'the time without them',
        ),
        atMost(
          `listing ${OPEN.toLocaleString('en-US')} open orders among ${SETTLED.toLocaleString('en-US')} settled orders`,
          listing.growth,
          MAX_GROWTH,
          'the time without them',
        ),
      ],
      tables: [
        {
          title: 'SQLite, `synchronous=OFF` so the disk does not dominate',
          columns: ['', 'time', 'ratio'],
          rows: [...settling.rows, ...listing.rows],
        },
      ],
      groups: [
        {
          title: 'settling an order',
          base: 'bare statements of the same rows',
          limit: LIMIT,
          bars: [{ name: 'store', ratio: settling.ratio }],
        },
      ],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureSettling(folder: string) {
  const [bareFile, ownFile, fullFile] = ['bare.db', 'own.db', 'full.db'].map((name) => join(folder, name));
  const bare = await openFilled(bareFile ?? '');
  const own = await openFilled(ownFile ?? '');
  const full = await openFilled(fullFile ?? '');
  fillExecutions(fullFile ?? '', full.orders[0]);
  const database = new DatabaseSync(bareFile ?? '');
  const [bareTime, ownTime, fullTime] = await compare(
    [
      { name: 'bare', run: createBareSettle(database, bare.orders) },
      createSettleSubject('store', own.store, own.orders),
      createSettleSubject('full', full.store, full.orders),
    ],
    { rounds: 41, budget: 4000 },
  );
  database.close();
  for (const { store } of [bare, own, full]) await store.close();
  const ratio = ownTime?.ratio ?? Number.NaN;
  const growth = (fullTime?.ratio ?? Number.NaN) / ratio;
  return {
    ratio,
    growth,
    rows: [
      ['bare statements of a settlement', formatMs(bareTime?.milliseconds ?? Number.NaN), formatRatio(1)],
      ['`settleOrder`', formatMs(ownTime?.milliseconds ?? Number.NaN), formatRatio(ratio)],
      [
        `\`settleOrder\` with ${EXECUTIONS.toLocaleString('en-US')} executions`,
        formatMs(fullTime?.milliseconds ?? Number.NaN),
        formatRatio(ratio * growth),
      ],
    ],
  };
}

/** Opens a store with orders that wait to be settled. */
async function openFilled(file: string): Promise<{ readonly store: Store; readonly orders: OrderRecord[] }> {
  const store = await openSqliteStore(file, { synchronous: 'OFF' });
  const orders: OrderRecord[] = [];
  for (let number = 0; number < SETTLED; number++) {
    orders.push((await store.submitOrder(sampleSubmission({ issue_ref: `owner/repo#${number}` }))).record);
  }
  return { store, orders };
}

/** Adds settlement rows for other issues. */
function fillExecutions(file: string, sample: OrderRecord | undefined): void {
  if (sample === undefined) return;
  const { active } = sampleSettlement(sample);
  const record = JSON.stringify(sampleExecution(sample, active.decision));
  const database = new DatabaseSync(file);
  database.exec('PRAGMA synchronous = OFF');
  database
    .prepare(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
       INSERT INTO executions (id, issue_ref, run_id, worker, decision, at, record)
       SELECT 'old-' || n, 'owner/repo#' || (n % 50000), '2026-01-01-backend-' || n, 'worker-' || (n % 20), 'advance',
         '2026-01-01T00:00:00.000Z', ? FROM numbers`,
    )
    .run(EXECUTIONS, record);
  database.close();
}

function createSettleSubject(name: string, store: Store, orders: readonly OrderRecord[]): Subject {
  const settlements = orders.map((order) => sampleSettlement(order));
  let next = 0;
  return {
    name,
    async run() {
      const settlement = settlements[next++];
      if (settlement === undefined) throw new Error('The bench has run out of orders.');
      const { repeated } = await store.settleOrder(settlement);
      if (repeated) throw new Error('The bench has settled an order twice.');
    },
  };
}

/** Writes the same rows without Sluice, from prepared values and without checks. */
function createBareSettle(database: Connection, orders: readonly OrderRecord[]): () => void {
  database.exec('PRAGMA synchronous = OFF');
  database.exec('PRAGMA cache_size = -16384');
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const fence = database.prepare(
    'UPDATE issues SET state = ?, updated_at = ? WHERE issue_ref = ? AND active_run_id = ?',
  );
  const order = database.prepare(
    `UPDATE orders SET decision = ?, result = ?, settled_at = ? WHERE issue_ref = ? AND run_id = ?`,
  );
  const run = database.prepare(`UPDATE runs SET state = 'ended', reply = NULL, ended_at = ?, result = ? WHERE id = ?`);
  const digest = database.prepare(
    `UPDATE run_digests SET outcome = 'success', repair_level = 'none', ended_at = ?
     WHERE seq = (SELECT seq FROM runs WHERE id = ?)`,
  );
  const execution = database.prepare(
    'INSERT INTO executions (id, issue_ref, run_id, worker, decision, at, record) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const message = database.prepare(
    `INSERT INTO outbox (id, sink, issue_ref, trigger_key, body, state, due_at, created_at)
     VALUES (?, ?, ?, ?, ?, 'waiting', ?, ?)`,
  );
  const rows = orders.map((record) => {
    const { issueRef, runId, now, runResult, active } = sampleSettlement(record);
    const { id, sink, trigger, body } = sampleMessage(record);
    const { execution: done } = active;
    return {
      fence: [active.state, now, issueRef, runId],
      order: [JSON.stringify(active.decision), JSON.stringify(active.result), now, issueRef, runId],
      run: [now, JSON.stringify(runResult), record.run],
      digest: [now, record.run],
      execution: [done.id, issueRef, runId, done.worker, done.decision, done.at, JSON.stringify(done)],
      message: [id, sink, issueRef, trigger, JSON.stringify(body), now, now],
    };
  });
  let next = 0;
  return () => {
    const row = rows[next++];
    if (row === undefined) throw new Error('The bench has run out of orders.');
    begin.run();
    fence.run(...row.fence);
    order.run(...row.order);
    run.run(...row.run);
    digest.run(...row.digest);
    execution.run(...row.execution);
    message.run(...row.message);
    commit.run();
  };
}

async function measureListing(folder: string) {
  const few = await openSqliteStore(join(folder, 'few.db'), { synchronous: 'OFF' });
  const many = await openSqliteStore(join(folder, 'many.db'), { synchronous: 'OFF' });
  for (let number = 0; number < SETTLED; number++) {
    const { record } = await many.submitOrder(sampleSubmission({ issue_ref: `owner/repo#${number}` }));
    await many.settleOrder(sampleSettlement(record));
  }
  for (const store of [few, many]) {
    for (let number = 0; number < OPEN; number++) {
      await store.submitOrder(sampleSubmission({ issue_ref: `owner/open#${number}` }));
    }
  }
  const list = (name: string, store: Store): Subject => ({
    name,
    async run() {
      const { items } = await store.listOrders({ open: true, limit: OPEN });
      if (items.length !== OPEN) throw new Error('The list is incomplete.');
    },
  });
  const [fewTime, manyTime] = await compare([list('few', few), list('many', many)]);
  for (const store of [few, many]) await store.close();
  const growth = manyTime?.ratio ?? Number.NaN;
  return {
    growth,
    rows: [
      [
        `\`listOrders\`, ${OPEN.toLocaleString('en-US')} open`,
        formatMs(fewTime?.milliseconds ?? Number.NaN),
        formatRatio(1),
      ],
      [
        `\`listOrders\`, ${OPEN.toLocaleString('en-US')} open of ${(SETTLED + OPEN).toLocaleString('en-US')}`,
        formatMs(manyTime?.milliseconds ?? Number.NaN),
        formatRatio(growth),
      ],
    ],
  };
}
