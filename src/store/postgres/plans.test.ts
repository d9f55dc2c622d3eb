import { describe, expect, it, onTestFinished } from 'vitest';
import { createDatabase } from '../../../test/postgres/fresh-database.js';
import { eventually } from '../../../test/postgres/eventually.js';
import { openSite } from '../contract/fixtures/open-site.js';
import {
  sampleClaim,
  sampleHold,
  NOW,
  sampleSettlement,
  sampleSubmission,
} from '../contract/fixtures/order-samples.js';
import { sampleSpec } from '../contract/fixtures/run-samples.js';
import { openStore } from '../open-store.js';
import { COUNT_CLAIM_TTL_MS } from '../sql/maintenance.js';
import { openDatabase } from './database.js';
import type { PostgresDatabase } from './database.js';
import type { Row } from '../driver.js';

/** A database with all tables, which are empty. */
async function createTables(): Promise<string> {
  const url = await createDatabase();
  await (await openStore(url)).close();
  return url;
}

/** A database where nearly all work is done: open rows must be found without reading the others. */
async function fillDatabase(): Promise<string> {
  const url = await createTables();
  const database = await openDatabase(url);
  await database.query(`
    INSERT INTO sluice.issues (issue_ref, state, active_run_id, last_run_number, updated_at)
      SELECT 'local#' || n, 'review', 'r', 1, 0 FROM generate_series(1, 20000) AS n;
    INSERT INTO sluice.orders (issue_ref, run_id, run, work_order, worker_type, created_at, settled_at, decision)
      SELECT 'local#' || n, 'r', 'r' || n, '{}', 'script', 0,
        CASE WHEN n % 1000 > 1 THEN 0 END, CASE WHEN n % 1000 > 1 THEN '{}' END
      FROM generate_series(1, 20000) AS n;
    INSERT INTO sluice.executions (id, issue_ref, run_id, worker, decision, at, record)
      SELECT 'e' || n, 'local#' || n % 5000, 'r', 'w', 'advance', '2026-01-01T' || lpad(n::text, 6, '0'), '{}'
      FROM generate_series(1, 20000) AS n;
    INSERT INTO sluice.inbox (id, issue_ref, run_id, item, resolution)
      SELECT 'i' || n, 'local#' || n, 'r', '{"reading":{"problems":[]},"result_code":"x","created_at":"2026-11-15"}',
        CASE WHEN n % 1000 > 0 THEN '{"at":"2026-11-15"}' END FROM generate_series(1, 20000) AS n;
    UPDATE sluice.inbox SET created_at = 0, resolved_at = CASE WHEN resolution IS NOT NULL THEN 0 END WHERE seq > 60;
    INSERT INTO sluice.inbox_slots (length, at, counts)
      SELECT 60000, n * 60000, '{"opened":[],"resolved":0,"oldest_resolved":null}' FROM generate_series(1, 20000) AS n;
    INSERT INTO sluice.outbox (id, sink, issue_ref, trigger_key, body, state, tries, due_at, created_at)
      SELECT 'm' || n, 'file', 'local#' || n, 't', '""', CASE WHEN n % 1000 = 0 THEN 'waiting' ELSE 'delivered' END, 0, 0, 0
      FROM generate_series(1, 20000) AS n;
    INSERT INTO sluice.runs (id, spec, engine, state, created_at, order_issue_ref, order_run_id, folder, worker_type, kind, started_at, worker_id)
      SELECT 'r' || n, '{}', 'codex', CASE WHEN n % 1000 = 0 THEN 'queued' WHEN n % 1000 = 1 THEN 'running' ELSE 'ended' END, 0,
        'local#' || n, 'r', '/r/' || n, 'script', ' script', CASE WHEN n % 1000 > 0 THEN 0 END, 'w'
      FROM generate_series(1, 20000) AS n;
    INSERT INTO sluice.leases (seq, lease_until) SELECT seq, 0 FROM sluice.runs WHERE state = 'running';
    INSERT INTO sluice.run_digests (seq, engine, outcome, repair_level, created_at, ended_at)
      SELECT seq, engine, 'success', 'none', seq, seq FROM sluice.runs;
    INSERT INTO sluice.run_words (number, words) SELECT seq * 2, id FROM sluice.runs;
    INSERT INTO sluice.runs_to_count (seq) SELECT seq FROM sluice.runs WHERE seq <= 60;
    INSERT INTO sluice.run_slots (length, at, engine, counts)
      SELECT 60000, n * 60000, 'codex', '{}' FROM generate_series(1, 20000) AS n;
    UPDATE sluice.runs SET ended_at = seq WHERE state = 'ended';
    INSERT INTO sluice.budget_entries (run, at, tokens, issue_ref)
      SELECT 'b' || n, n * 8640000::bigint, 1, 'i' || n % 1000 FROM generate_series(1, 20000) AS n;
    INSERT INTO sluice.counted (id, at) SELECT 'c' || n, n FROM generate_series(1, 20000) AS n;
    INSERT INTO sluice.event_packs (run_id, protocol, attempt, first_seq, last_seq, body)
      SELECT 'r' || n % 100, 'fcmp', 0, n / 100, n / 100, convert_to('{"seq":' || n / 100 || '}', 'UTF8') FROM generate_series(1, 20000) AS n;
    ANALYZE`);
  await database.close();
  return url;
}

/** The only connection to a database. */
async function openOnlyConnection(url: string): Promise<PostgresDatabase> {
  const database = await openDatabase(url);
  onTestFinished(async () => database.close());
  await eventually(async () => {
    const { rows } = await database.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    expect(rows).toEqual([]);
  });
  return database;
}

/**
 * Counts the sequential scans of each table, except tables with a row or two per process or claimed run, and the table
 * that is constantly emptied. Connections report their scans when they close, so all must be closed.
 */
async function countScans(url: string): Promise<Row[]> {
  const database = await openOnlyConnection(url);
  const { rows } = await database.query(
    `SELECT relname, seq_scan FROM pg_stat_user_tables
     WHERE schemaname = 'sluice' AND relname NOT IN ('schema_versions', 'runs_to_count', 'followers', 'leases', 'queue_watchers') ORDER BY relname`,
  );
  await database.close();
  return rows;
}

describe('a frequent query', () => {
  it('uses an index, regardless of table size', async () => {
    const url = await fillDatabase();
    const before = await countScans(url);
    const store = await openSite(url, { searchWindow: 200 });
    expect((await store.listOrders({ open: true, limit: 1000 })).items).toHaveLength(40);
    expect((await store.listOrders({ state: 'queued' })).items).toHaveLength(20);
    expect((await store.listOrders({ issueRef: 'local#7' })).items).toHaveLength(1);
    expect((await store.listExecutions({ issueRef: 'local#7' })).items).toHaveLength(4);
    expect((await store.listExecutions({})).items).toHaveLength(100);
    const day = { since: '2026-01-01T000100', until: '2026-01-01T000200' };
    expect((await store.listExecutions(day)).items).toHaveLength(100);
    expect((await store.listExecutions({ ...day, worker: 'w', limit: 10 })).items).toHaveLength(10);
    expect((await store.listExecutions({ since: '2026-01-01T000100', decision: 'advance' })).items).toHaveLength(100);
    expect((await store.listOrders({ issueRef: 'local#7', state: 'settled' })).items).toHaveLength(1);
    expect((await store.listOutbox({ state: 'waiting' })).items).toHaveLength(20);
    expect(await store.recordStranded({ sinks: ['file'], dueBefore: NOW, error: 'x', limit: 10 })).toEqual([]);
    expect((await store.listInbox({ open: true })).items).toHaveLength(20);
    expect(await store.claimOutbox({ workerId: 'w1', leaseMs: 1, now: NOW, limit: 5 })).toHaveLength(5);
    expect(await store.claimRun(sampleClaim('w1', { leaseMs: 1 }))).toBeDefined();
    expect(await store.listExpiredRuns(NOW + 10)).toHaveLength(20);
    expect(await store.requeueExpired(NOW + 10)).toBe(1);
    const run = { id: 'new', spec: sampleSpec(), requestId: 'q1', state: 'queued', now: NOW } as const;
    expect(await store.createRun(run)).toEqual({ id: 'new', repeated: false });
    expect(await store.createRun({ ...run, id: 'again' })).toEqual({ id: 'new', repeated: true });
    expect((await store.listRuns({ search: 'r199' })).items.length).toBeGreaterThan(0);
    expect((await store.listIssues({ search: '#199' })).items.length).toBeGreaterThan(0);
    expect(await store.listRunSlots({ since: 0, until: 200, stepMs: 60_000 })).toHaveLength(199);
    expect(await store.countEndedRuns(50)).toBe(50);
    expect(await store.listRunSlots({ since: 0, until: 5_490_000, stepMs: 3_600_000 })).not.toEqual([]);
    expect(await store.listRunSlots({ since: 0, until: 86_400_000, stepMs: 86_400_000 })).not.toEqual([]);
    expect(await store.purgeRuns({ endedBefore: 100, runs: 5, rows: 10, now: NOW })).toEqual({
      ids: [],
      isDone: false,
    });
    expect((await store.listPurgedRuns({ since: 0 })).items).toEqual([]);
    expect(await store.purgeRecords({ endedBefore: 100, purgedBefore: NOW, limit: 10 })).toMatchObject({
      deleted: 0,
    });
    expect(await store.purgeDelivered({ before: 0, limit: 10 })).toBe(0);
    // The queries of /metrics, except for the worker rows.
    expect((await store.countOpenWork()).orders).toEqual({ queued: 20, running: 20 });
    expect((await store.listEndedRuns({ since: 19_000, limit: 10 })).items).toHaveLength(10);
    expect(await store.claimForMetrics({ ids: ['r1', 'c7', 'new'], now: COUNT_CLAIM_TTL_MS })).toEqual(['new', 'r1']);
    expect(await store.readInboxHistory({ since: 0, until: 5_490_000, stepMs: 60_000 })).toMatchObject({ open: 20 });
    expect(await store.countInboxItems(10)).toBe(10);
    const budget = { since: 0, tokens: 100, cost: null };
    const limits = (['day', 'issue', 'caller'] as const).map((scope) => ({ ...budget, scope, name: 'x' }));
    expect(await store.measureBudgets(limits)).toHaveLength(3);
    expect(await store.countBudgetWaits('day')).toBe(0);
    expect(await store.read({ runId: 'r7', protocol: 'fcmp', after: 50, limit: 10 })).toHaveLength(10);
    await store.submitOrder(sampleSubmission({ issue_ref: 'new#1', priority: 1, request_id: 'r1' }));
    const order = (await store.claimRun(sampleClaim()))?.order;
    expect(order?.order.issue_ref).toBe('new#1');
    if (order === undefined || order === null) return;
    expect(await store.markStarted(sampleHold(order))).toBe('started');
    expect(await store.renewRun({ ...sampleHold(order), leaseMs: 1 })).toMatchObject({ held: true });
    expect((await store.settleOrder(sampleSettlement(order))).repeated).toBe(false);
    await store.close();
    expect(await countScans(url)).toEqual(before);
  });
});

describe('countScans', () => {
  it('counts a sequential scan', async () => {
    const url = await createTables();
    const before = await countScans(url);
    const database = await openDatabase(url);
    await database.query(`SELECT seq FROM sluice.orders WHERE worker_type = 'nobody'`);
    await database.close();
    expect(await countScans(url)).not.toEqual(before);
  });
});

/** Counts how many rows of a table have been read. */
async function countRowsRead(url: string, table: string): Promise<number> {
  const database = await openOnlyConnection(url);
  const { rows } = await database.query(
    `SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) AS read FROM pg_stat_user_tables
     WHERE schemaname = 'sluice' AND relname = $1`,
    [table],
  );
  await database.close();
  return Number(rows[0]?.['read']);
}

describe('a claim', () => {
  /**
   * Counts the rows that two claims read while this many runs wait for ten folders in use, the same number for a
   * wrapper type at its limit, and the same number are deferred.
   */
  async function measureClaim(queued: number): Promise<number> {
    const url = await createTables();
    const database = await openDatabase(url);
    // In one statement the trigger would keep the plan that suits an empty table.
    await database.query('ALTER TABLE sluice.runs DISABLE TRIGGER add_to_queue');
    await database.query(`
      INSERT INTO sluice.runs (id, spec, engine, state, created_at, folder, worker_id, started_at)
        SELECT 'b' || n, '{}', 'codex', 'running', 0, '/busy/' || n, 'w', 0 FROM generate_series(0, 9) AS n`);
    await database.query(`
      INSERT INTO sluice.runs (id, spec, engine, state, created_at, folder, priority, parked_on)
        SELECT 'q' || n, '{}', 'codex', 'queued', 0, '/busy/' || n % 10, 5, CASE WHEN n <= 10 THEN '' ELSE '*' END
        FROM generate_series(1, ${queued}) AS n`);
    await database.query(`
      INSERT INTO sluice.runs (id, spec, engine, state, created_at, folder, priority, worker_type, kind, order_issue_ref, order_run_id)
        SELECT 'f' || n, '{}', 'codex', 'queued', 0, '/full/' || n, 5, 'full', ' full', 'x', 'x' FROM generate_series(1, ${queued}) AS n`);
    await database.query(`
      INSERT INTO sluice.runs (id, spec, engine, state, created_at, folder, priority, not_before)
        SELECT 'd' || n, '{}', 'codex', 'queued', 0, '/deferred/' || n % 10, 5, ${NOW + 60_000} FROM generate_series(1, ${queued}) AS n`);
    await database.query('ALTER TABLE sluice.runs ENABLE TRIGGER add_to_queue');
    await database.query('ANALYZE');
    await database.close();
    const store = await openSite(url);
    // The first claim parks the first run of each folder.
    expect(await store.claimRun(sampleClaim('w1', { concurrency: { full: 0 } }))).toBeUndefined();
    await store.createRun({ id: 'free', spec: sampleSpec(), state: 'queued', now: NOW });
    await store.close();
    const before = await countRowsRead(url, 'runs');
    const next = await openSite(url);
    expect((await next.claimRun(sampleClaim('w1', { concurrency: { full: 0 } })))?.record.id).toBe('free');
    expect(await next.claimRun(sampleClaim('w1', { concurrency: { full: 0 } }))).toBeUndefined();
    await next.close();
    return (await countRowsRead(url, 'runs')) - before;
  }

  it('reads few rows while 150,000 runs wait for folders in use, for a wrapper type at its limit, or are deferred', async () => {
    expect(await measureClaim(50_000)).toBeLessThan(100);
  });
});

describe('the claim and the end of a run', () => {
  it('read few rows while runs wait for 2,000 other folders, even with plans made for an empty queue', async () => {
    const url = await createTables();
    const database = await openDatabase(url);
    const store = await openSite(url, { pool: 2 });
    // PostgreSQL keeps a plan after five times.
    for (let number = 1; number <= 8; number += 1) {
      if (number === 8) {
        const { host } = sampleClaim().worker;
        await database.query(`
          INSERT INTO sluice.runs (id, spec, engine, state, created_at, folder, parked_on)
            SELECT 'q' || n, '{}', 'codex', 'queued', 0, '/busy/' || n, '${host}' FROM generate_series(1, 2000) AS n`);
      }
      await store.submitOrder(sampleSubmission({ issue_ref: `local#${number}`, repo_dir: `/r/${number}` }));
      const order = (await store.claimRun(sampleClaim()))?.order;
      if (order === undefined || order === null) throw new Error('The order was not claimed.');
      await store.settleOrder(sampleSettlement(order));
    }
    await store.close();
    await database.close();
    expect(await countRowsRead(url, 'runs')).toBeLessThan(1000);
  });
});

describe('a renewal', () => {
  it('reads only the runs of the worker, although nearly all runs are claimed', async () => {
    const url = await createTables();
    const database = await openDatabase(url);
    await database.query(`
      INSERT INTO sluice.runs (id, spec, engine, state, created_at, folder, worker_id, started_at)
        SELECT 'r' || n, '{}', 'codex', 'running', 0, '/r/' || n, 'w' || n / 4, 0 FROM generate_series(0, 3999) AS n;
      INSERT INTO sluice.leases (seq, lease_until) SELECT seq, 0 FROM sluice.runs;
      ANALYZE`);
    await database.close();
    const before = { runs: await countRowsRead(url, 'runs'), leases: await countRowsRead(url, 'leases') };
    const store = await openSite(url);
    const renew = async (id: string) => store.renewRun({ id, workerId: 'w0', leaseMs: 1, now: NOW });
    const renewed = await Promise.all(['r0', 'r1', 'r2', 'r3', 'r4'].map(renew));
    expect(renewed.map(({ held }) => held)).toEqual([true, true, true, true, false]);
    await store.close();
    expect((await countRowsRead(url, 'runs')) - before.runs).toBeLessThan(50);
    expect((await countRowsRead(url, 'leases')) - before.leases).toBeLessThan(50);
  });
});

describe('a count of the runs that ended within a time', () => {
  it('reads only these', async () => {
    const url = await createTables();
    const database = await openDatabase(url);
    await database.query(`
      INSERT INTO sluice.runs (id, spec, engine, state, created_at, ended_at)
        SELECT 'r' || n, '{}', 'codex', 'ended', n, n FROM generate_series(1, 20000) AS n;
      INSERT INTO sluice.run_digests (seq, engine, outcome, repair_level, created_at, ended_at)
        SELECT seq, engine, 'success', 'none', created_at, ended_at FROM sluice.runs;
      ANALYZE`);
    await database.close();
    const before = await countRowsRead(url, 'run_digests');
    const store = await openSite(url);
    // After five executions, PostgreSQL can use a plan for any values.
    for (let count = 0; count < 7; count += 1)
      expect(await store.countRuns({ endedSince: 9000, endedUntil: 9100 })).toBe(100);
    await store.close();
    expect((await countRowsRead(url, 'run_digests')) - before).toBeLessThan(3000);
  });
});

describe('a step of retention', () => {
  it('reads hardly more events than it deletes', async () => {
    const url = await createTables();
    const database = await openDatabase(url);
    await database.query(`
      INSERT INTO sluice.runs (id, spec, engine, state, created_at, ended_at)
        SELECT 'r' || n, '{}', 'codex', 'ended', 0, 5000 - n FROM generate_series(1000, 3999) AS n;
      INSERT INTO sluice.event_packs (run_id, protocol, attempt, first_seq, last_seq, body)
        SELECT 'r' || run, 'rasp', 1, n, n, convert_to(repeat('x', 500), 'UTF8')
        FROM generate_series(1, 20) AS n CROSS JOIN generate_series(1000, 3999) AS run;
      ANALYZE`);
    await database.close();
    const before = await countRowsRead(url, 'event_packs');
    const store = await openSite(url);
    const { ids } = await store.purgeRuns({ endedBefore: NOW, runs: 50, rows: 200, now: NOW });
    expect(ids).toHaveLength(10);
    await store.close();
    expect((await countRowsRead(url, 'event_packs')) - before).toBeLessThan(300);
  });
});
