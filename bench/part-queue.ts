import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, hostname, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { createRunResult, sampleSpec } from '../src/store/contract/fixtures/run-samples.js';
import { openDatabase } from '../src/store/postgres/database.js';
import type { Store } from '../src/store/store.js';
import { createPostgresServer } from '../test/postgres/postgres-server.js';
import { createDatabase } from './create-database.js';
import { median } from './measure.js';
import { atMost, formatMs, formatRatio, type PartResult } from './part-result.js';
import { openSqliteStore, openStore } from './product.js';
import {
  openBare,
  openGraphileWorker,
  openPgBoss,
  openSluice,
  openSluiceOrders,
  WORKERS,
  type QueuePeer,
} from './queue-peers.js';
import { readLoad } from '../test/postgres/measure-load.js';

const JOBS = 200;
const ROUNDS = 7;
const QUEUED = 100_000;
const BUSY_FOLDERS = 5000;
/** Runs that must not be claimed before a given time, as when a budget is used up. */
const DEFERRED = 100_000;
const CLAIMS = 100;
/** The maximum ratio of the processor time of an order to that of a job of pg-boss. */
const MAX_ORDER_COST = 1.8;
/** The maximum ratio of a claim on a long queue to a claim on an empty queue. */
const MAX_GROWTH = 1.5;

/** Compares the queue on PostgreSQL with other queues, and measures claims with 200,000 runs that cannot be claimed. */
export async function runQueue(): Promise<PartResult> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  // A separate folder: the server might run as another user, who cannot access the first one.
  const serverFolder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const server = await createPostgresServer(serverFolder);
  try {
    await server.start();
    const load = describeLoad();
    const queues = await compareQueues(server.url);
    const postgres = await measureClaims(await openPostgresPair(server.url));
    const sqlite = await measureClaims(await openSqlitePair(folder));
    const waiting = `${QUEUED.toLocaleString('en-US')} runs that wait for ${BUSY_FOLDERS.toLocaleString('en-US')} busy folders and ${DEFERRED.toLocaleString('en-US')} that wait for a budget`;
    return {
      title: 'Queue',
      targets: [
        atMost(
          'an order in the store: submitted, claimed, settled; processor time of process and database',
          queues.orderCost,
          MAX_ORDER_COST,
          'a job of pg-boss',
        ),
        atMost(`PostgreSQL: claiming a run with ${waiting}`, postgres.growth, MAX_GROWTH, 'the time without them'),
        atMost(`SQLite: claiming a run with ${waiting}`, sqlite.growth, MAX_GROWTH, 'the time without them'),
      ],
      tables: [
        {
          title: `PostgreSQL, ${WORKERS} concurrent callers, ${JOBS} jobs per round, ${ROUNDS} rounds; elapsed time per job, and processor time of this process and PostgreSQL (${load})`,
          columns: ['', 'add', 'ratio', 'claim and complete', 'ratio', 'processor time'],
          rows: queues.rows,
        },
        {
          title: `One claim, in an empty queue and with ${waiting} (${load})`,
          columns: ['', 'empty queue', 'with them', 'ratio'],
          rows: [
            ['PostgreSQL', formatMs(postgres.empty), formatMs(postgres.full), formatRatio(postgres.growth)],
            ['SQLite', formatMs(sqlite.empty), formatMs(sqlite.full), formatRatio(sqlite.growth)],
          ],
        },
      ],
      groups: [],
    };
  } finally {
    await server.stop();
    for (const each of [serverFolder, folder]) await rm(each, { recursive: true, force: true });
  }
}

function describeLoad(): string {
  return `load ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores at the start`;
}

/** Measures the queues side by side: each runs in every round, so other load affects all of them. */
async function compareQueues(
  server: string,
): Promise<{ readonly rows: readonly (readonly string[])[]; readonly orderCost: number }> {
  const openers = [openBare, openSluice, openPgBoss, openGraphileWorker, openSluiceOrders];
  const peers: QueuePeer[] = [];
  for (const [index, open] of openers.entries()) peers.push(await open(await createDatabase(server, `queue_${index}`)));
  const samples = peers.map((): { add: number[]; work: number[]; cpu: number[] } => ({ add: [], work: [], cpu: [] }));
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, peer] of peers.entries()) {
      const before = await readProcessorMs(server);
      const add = await measureMs(async () => addAll(peer));
      const work = await measureMs(async () => peer.drain(JOBS));
      const cpu = (await readProcessorMs(server)) - before;
      if (round === 0) continue;
      samples[index]?.add.push(add / JOBS);
      samples[index]?.work.push(work / JOBS);
      samples[index]?.cpu.push(cpu / JOBS);
    }
  }
  for (const peer of peers) await peer.close();
  const [base, , boss] = samples;
  return {
    rows: peers.map(({ name }, index) => {
      const { add = [], work = [], cpu = [] } = samples[index] ?? {};
      return [
        name,
        formatMs(median(add)),
        formatRatio(divide(add, base?.add)),
        formatMs(median(work)),
        formatRatio(divide(work, base?.work)),
        formatMs(median(cpu)),
      ];
    }),
    orderCost: divide(samples[4]?.cpu ?? [], boss?.cpu),
  };
}

/** Returns the median of the ratios, round by round. */
const divide = (own: readonly number[], others: readonly number[] = []): number =>
  median(own.map((sample, round) => sample / (others[round] ?? Number.NaN)));

/** Returns the processor time of this process and of the server so far. */
async function readProcessorMs(server: string): Promise<number> {
  const { serverCpu } = await readLoad(server, []);
  const { user, system } = process.cpuUsage();
  return serverCpu * 1000 + (user + system) / 1000;
}

async function addAll(peer: QueuePeer): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: WORKERS }, async () => {
      while (next < JOBS) await peer.add((next += 1));
    }),
  );
}

async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

interface Pair {
  readonly empty: Store;
  readonly full: Store;
}

/** Times single claims in both stores alternately; a claimed run is ended immediately. */
async function measureClaims({ empty, full }: Pair) {
  const worker = { worker_id: 'w', host: hostname(), pid: process.pid, pid_started: null };
  const result = createRunResult();
  const claim = async (store: Store, id: string): Promise<number> => {
    await store.createRun({ id, spec: sampleSpec({ workdir: '/srv/free' }), state: 'queued', now: Date.now() });
    const start = performance.now();
    const claimed = await store.claimRun({ worker, leaseMs: 30_000, now: Date.now() });
    const time = performance.now() - start;
    if (claimed?.record.id !== id) throw new Error('The bench has claimed another run.');
    await store.endRun({ id, workerId: 'w', result, now: Date.now() });
    return time;
  };
  const samples: { readonly empty: number; readonly full: number }[] = [];
  for (let number = 0; number < CLAIMS; number++) {
    samples.push({ empty: await claim(empty, `free-${number}`), full: await claim(full, `free-${number}`) });
  }
  for (const store of [empty, full]) await store.close();
  return {
    empty: median(samples.map((sample) => sample.empty)),
    full: median(samples.map((sample) => sample.full)),
    growth: median(samples.map((sample) => sample.full / sample.empty)),
  };
}

async function openPostgresPair(server: string): Promise<Pair> {
  const [empty, full] = [await createDatabase(server, 'queue_empty'), await createDatabase(server, 'queue_full')];
  await (await openStore(full)).close();
  const database = await openDatabase(full);
  await database.query(`
    INSERT INTO sluice.runs (id, spec, engine, state, created_at, folder, worker_id, started_at)
      SELECT 'busy-' || n, '{}', 'command', 'running', 0, '/busy/' || n, 'w', 0
      FROM generate_series(0, ${BUSY_FOLDERS - 1}) AS n`);
  await database.query(`
    INSERT INTO sluice.runs (id, spec, engine, state, created_at, folder, priority)
      SELECT 'queued-' || n, '{}', 'command', 'queued', 0, '/busy/' || n % ${BUSY_FOLDERS}, 5
      FROM generate_series(1, ${QUEUED}) AS n`);
  await database.query(`
    INSERT INTO sluice.runs (id, spec, engine, state, created_at, folder, priority, not_before)
      SELECT 'deferred-' || n, '{}', 'command', 'queued', 0, '/deferred/' || n, 5, 9000000000000
      FROM generate_series(1, ${DEFERRED}) AS n`);
  await database.query('ANALYZE');
  await database.close();
  return { empty: await openStore(empty), full: await openStore(full) };
}

async function openSqlitePair(folder: string): Promise<Pair> {
  const [empty, full] = [join(folder, 'empty.db'), join(folder, 'full.db')];
  await (await openSqliteStore(full, { synchronous: 'OFF' })).close();
  const database = new DatabaseSync(full);
  database.exec(`
    PRAGMA synchronous = OFF;
    BEGIN;
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${BUSY_FOLDERS - 1})
      INSERT INTO runs (id, spec, engine, state, created_at, folder, worker_id, started_at)
      SELECT 'busy-' || n, '{}', 'command', 'running', 0, '/busy/' || n, 'w', 0 FROM numbers;
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${QUEUED - 1})
      INSERT INTO runs (id, spec, engine, state, created_at, folder, priority)
      SELECT 'queued-' || n, '{}', 'command', 'queued', 0, '/busy/' || (n % ${BUSY_FOLDERS}), 5 FROM numbers;
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${DEFERRED - 1})
      INSERT INTO runs (id, spec, engine, state, created_at, folder, priority, not_before)
      SELECT 'deferred-' || n, '{}', 'command', 'queued', 0, '/deferred/' || n, 5, 9000000000000 FROM numbers;
    COMMIT`);
  database.close();
  const options = { synchronous: 'OFF' } as const;
  return { empty: await openSqliteStore(empty, options), full: await openSqliteStore(full, options) };
}
