import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import pg from 'pg';
import type { Store } from '../src/store/store.js';
import { createPostgresServer } from '../test/postgres/postgres-server.js';
import { compare, type Subject } from './measure.js';
import { atMost, formatMs, formatRatio, type PartResult, type Target } from './part-result.js';
import { openSqliteStore, openStore } from './product.js';

const FEW = 1000;
const MANY = 200_000;
/** An index with two hundred times the rows is one or two levels deeper; a higher ratio would mean a scan. */
const MAX_GROWTH = 1.5;

const DAY = 86_400_000;
const SINCE = Date.parse('2026-10-01T00:00:00.000Z');
const SPAN = { since: SINCE, until: SINCE + 7 * DAY + 30_001, stepMs: 3 * 3_600_000 };

/** Far more runs a second than end: deleting must catch up after a pause, and not take long. */
const MIN_RATE = 500;
/** The maximum that retention deletes in one transaction. */
const STEP = { runs: 100, rows: 2500 };
const FORGOTTEN = 2000;
/** Rows per run and bytes per row: a run of 250 events, stored two per row. */
const ROWS = 125;
const BODY = 1200;

/** Measures statistics, metrics and retention with much data. */
export async function runMaintenance(): Promise<PartResult> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  try {
    const reading = await measureReading(folder);
    const sqlite = await measureRetention('SQLite', async () => openPurgeable(join(folder, 'old.db')));
    const postgres = await measureOnPostgres(folder);
    const retention = [sqlite, postgres];
    return {
      title: 'Statistics and retention',
      targets: [...reading.targets, ...retention.map(({ target }) => target)],
      tables: [
        {
          title: `SQLite, a week of statistics and the gauges of \`/metrics\`, with ${FEW.toLocaleString('en-US')} and ${MANY.toLocaleString('en-US')} ended runs and resolved inbox items`,
          columns: ['', FEW.toLocaleString('en-US'), MANY.toLocaleString('en-US'), 'ratio'],
          rows: reading.rows,
        },
        {
          title: `Deleting the events of ${FORGOTTEN.toLocaleString('en-US')} runs of ${ROWS} rows, ${STEP.rows.toLocaleString('en-US')} rows per transaction, synced`,
          columns: ['', 'time', 'runs a second', 'rows a second'],
          rows: retention.map(({ row }) => row),
        },
      ],
      groups: [],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureReading(folder: string): Promise<{ readonly targets: Target[]; readonly rows: string[][] }> {
  const few = await openCounted(join(folder, 'few.db'), FEW);
  const many = await openCounted(join(folder, 'many.db'), MANY);
  const reads: readonly { readonly name: string; readonly read: (store: Store) => Promise<unknown> }[] = [
    { name: 'run statistics', read: async (store) => store.listRunSlots(SPAN) },
    { name: 'inbox statistics', read: async (store) => store.readInboxHistory(SPAN) },
    { name: 'gauges of `/metrics`', read: async (store) => store.countOpenWork() },
  ];
  const targets: Target[] = [];
  const rows: string[][] = [];
  for (const { name, read } of reads) {
    const subject = (size: string, store: Store): Subject => ({ name: size, run: async () => read(store) });
    const [small, large] = await compare([subject('few', few), subject('many', many)]);
    const ratio = large?.ratio ?? Number.NaN;
    targets.push(
      atMost(
        `${name}, ${MANY.toLocaleString('en-US')} compared with ${FEW.toLocaleString('en-US')}`,
        ratio,
        MAX_GROWTH,
        'the time',
      ),
    );
    rows.push([
      name,
      formatMs(small?.milliseconds ?? Number.NaN),
      formatMs(large?.milliseconds ?? Number.NaN),
      formatRatio(ratio),
    ]);
  }
  for (const store of [few, many]) await store.close();
  return { targets, rows };
}

/** Opens a store with ended runs and resolved inbox items, spread over a week and counted. */
async function openCounted(file: string, size: number): Promise<Store> {
  const store = await openSqliteStore(file, { synchronous: 'OFF' });
  const database = new DatabaseSync(file);
  const time = `${SINCE} + n * ${Math.floor((7 * DAY) / size)}`;
  const text = `strftime('%Y-%m-%dT%H:%M:%fZ', (${time}) / 1000.0, 'unixepoch')`;
  const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${size - 1})`;
  database.exec(`
    PRAGMA synchronous = OFF;
    ${numbers} INSERT INTO runs (id, spec, engine, state, created_at, started_at, ended_at)
      SELECT 'r' || n, '{}', iif(n % 3 = 0, 'codex', 'claude'), 'ended', n, ${time} - 4000, ${time} FROM numbers;
    INSERT INTO run_digests (seq, engine, outcome, repair_level, created_at, started_at, ended_at)
      SELECT seq, engine, 'success', 'none', created_at, started_at, ended_at FROM runs;
    INSERT INTO runs_to_count SELECT seq FROM runs;
    ${numbers} INSERT INTO inbox (id, issue_ref, run_id, item, resolution)
      SELECT 'i' || n, 'local#' || n, 'r',
        json_object('created_at', ${text}, 'result_code', 'x', 'reading', json('{"problems":[]}')),
        json_object('at', ${text})
      FROM numbers`);
  database.close();
  while ((await store.countEndedRuns(5000)) > 0);
  while ((await store.countInboxItems(5000)) > 0);
  return store;
}

async function measureRetention(name: string, open: () => Promise<Store>) {
  const store = await open();
  const start = performance.now();
  for (let isDone = false; !isDone;) {
    ({ isDone } = await store.purgeRuns({ endedBefore: DAY, now: DAY, ...STEP }));
  }
  const elapsed = performance.now() - start;
  const { items } = await store.listPurgedRuns({ since: 0, limit: 1 });
  await store.close();
  if (items.length === 0) throw new Error('Nothing was deleted.');
  const rate = (FORGOTTEN * 1000) / elapsed;
  const target: Target = {
    what: `deleting the events of old runs on ${name}`,
    limit: `≥ ${MIN_RATE} runs a second`,
    measured: `${formatRate(rate)} runs a second`,
    met: rate >= MIN_RATE,
  };
  return { target, row: [name, formatMs(elapsed), formatRate(rate), formatRate(rate * ROWS)] };
}

function formatRate(rate: number): string {
  return Math.round(rate).toLocaleString('en-US');
}

/** Opens a store with runs that ended long ago, and their events. */
async function openPurgeable(file: string): Promise<Store> {
  const store = await openStore(`sqlite:${file}`);
  const database = new DatabaseSync(file);
  database.exec(`
    PRAGMA synchronous = OFF;
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${FORGOTTEN - 1})
    INSERT INTO runs (id, spec, engine, state, created_at, ended_at) SELECT 'r' || n, '{}', 'codex', 'ended', n, n FROM numbers;
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${ROWS - 1})
    INSERT INTO event_packs (run_id, protocol, attempt, first_seq, last_seq, body)
      SELECT id, 'rasp', 1, n * 2 + 1, n * 2 + 2, zeroblob(${BODY}) FROM numbers CROSS JOIN runs`);
  database.close();
  return store;
}

async function measureOnPostgres(folder: string) {
  const serverFolder = join(folder, 'postgres');
  await mkdir(serverFolder);
  await chmod(folder, 0o755);
  const server = await createPostgresServer(serverFolder);
  await server.start();
  try {
    return await measureRetention('PostgreSQL', async () => {
      const store = await openStore(server.url);
      const client = new pg.Client(server.url);
      await client.connect();
      // Only a connection that sets the form of the tables may write.
      await client.query(
        `SELECT set_config('sluice.schema_version', (SELECT max(version)::text FROM sluice.schema_versions), false)`,
      );
      await client.query(`
        INSERT INTO sluice.runs (id, spec, engine, state, created_at, ended_at)
          SELECT 'r' || n, '{}', 'codex', 'ended', n, n FROM generate_series(0, ${FORGOTTEN - 1}) AS n;
        INSERT INTO sluice.event_packs (run_id, protocol, attempt, first_seq, last_seq, body)
          SELECT 'r' || run, 'rasp', 1, n * 2 + 1, n * 2 + 2, convert_to(repeat('x', ${BODY}), 'UTF8')
          FROM generate_series(0, ${ROWS - 1}) AS n CROSS JOIN generate_series(0, ${FORGOTTEN - 1}) AS run;
        ANALYZE`);
      await client.end();
      return store;
    });
  } finally {
    await server.stop();
  }
}
