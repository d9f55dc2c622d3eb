import { spawn, type ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import S3rver from 's3rver';
import { readLoad } from '../test/postgres/measure-load.js';
import { createPostgresServer } from '../test/postgres/postgres-server.js';
import { startVirtualWorker, type VirtualAgent } from '../test/postgres/virtual-worker.js';
import { AUTHORITY, CERTIFICATE, WORKER_TOKEN } from '../test/postgres/worker-token.js';
import { createDatabase } from './create-database.js';
import { subtract, type Phase, type Starts, type Usage } from './extrapolate.js';
import { connect, openRemotePorts } from './product.js';

const COMMAND = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const CALLER_TOKEN = 'caller-token-0123456789abcdef0123456789';
const REPOSITORIES = 50;
const MAX_CONNECTIONS = 100;
/**
 * After a checkpoint the first change of each page writes all of it, and the autovacuum follows the VACUUM FULL that measures
 * the tables: one phase of half a minute must not have either to itself.
 */
const UNDISTURBED = ['checkpoint_timeout=1h', 'max_wal_size=16GB', 'autovacuum=off'];
const WATCH_MS = 250;
const MAX_TRIES = 10;
/** Workers that connect at the same time. */
const CONNECTING = 20;

/** One server with TLS, a PostgreSQL and an archive, all real, and any number of virtual workers over HTTPS. */
interface SimulationSite {
  startWorkers(count: number, agent: VirtualAgent['agent']): Promise<void>;
  /** Submits an order over HTTPS, as a caller would. */
  submit(issue: string): Promise<void>;
  measure(name: string, work: () => Promise<unknown>): Promise<Phase>;
  /** Waits until so many runs have started; on a busy host, the claims of some might have expired since. */
  waitUntilStarted(issues: string, runs: number): Promise<void>;
  /** Waits until all orders are settled, their comments delivered and their runs in the archive. */
  waitUntilStored(): Promise<void>;
  /**
   * Returns how many orders did not advance: on a busy host, claims expire before they are renewed. Throws unless this many
   * orders were settled.
   */
  countLost(orders: number): Promise<number>;
  readStarts(issues: string): Promise<Starts>;
  /** The maximum number of connections of the server to PostgreSQL so far. */
  readonly connections: number;
  /** Returns the server's memory, in megabytes. */
  readMemory(): Promise<number>;
  close(): Promise<void>;
}

/** Starts a site without workers. */
export async function openSimulationSite(): Promise<SimulationSite> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  // A separate folder: the server might run as another user, who cannot access the first one.
  const postgresFolder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const settings = [`max_connections=${MAX_CONNECTIONS}`, ...UNDISTURBED].flatMap((each) => ['-c', each]);
  const postgres = await createPostgresServer(postgresFolder, settings);
  await postgres.start();
  const url = await createDatabase(postgres.url, 'simulation');
  const archive = await startArchive(join(folder, 'archive'));
  const { child, address } = await startServer(folder, url, archive.endpoint);
  const ca = await readFile(AUTHORITY, 'utf8');
  const data = join(folder, 'workers');
  await mkdir(data);
  // Its connections stay open: on a busy host, a new one can take longer than PostgreSQL waits.
  const observer = new pg.Pool({ connectionString: url, application_name: 'observer', max: 2, idleTimeoutMillis: 0 });
  let requests = 0;
  let connections = 0;
  const watch = setInterval(() => {
    const count = `SELECT count(*) AS open FROM pg_stat_activity WHERE application_name = 'sluice'`;
    void read(count).then(({ open }) => (connections = Math.max(connections, Number(open))));
  }, WATCH_MS);

  async function read(sql: string): Promise<Readonly<Record<string, string>>> {
    return (await observer.query<Record<string, string>>(sql)).rows[0] ?? {};
  }

  async function countEntries(name: string): Promise<number> {
    return (await readdir(join(folder, 'data', name))).length;
  }

  async function readUsage(): Promise<Usage> {
    const load = await readLoad(url, [{ child, ready: Promise.resolve(), isReady: true }]);
    const { wal } = await read(`SELECT pg_current_wal_insert_lsn() - '0/0' AS wal`);
    return {
      seconds: load.at / 1000,
      requests,
      transactions: load.transactions,
      walBytes: Number(wal),
      serverMs: load.workerCpu * 1000,
      databaseMs: load.serverCpu * 1000,
      ...archive.usage,
    };
  }

  async function readTables(): Promise<Phase['tables']> {
    // Without dead rows, whose space is used again.
    await observer.query('VACUUM FULL');
    const { rows: found } = await observer.query<{ readonly table: string }>(
      `SELECT relname AS table FROM pg_stat_user_tables WHERE schemaname = 'sluice' ORDER BY relname`,
    );
    const tables: Phase['tables'][number][] = [];
    for (const { table } of found) {
      const name = `sluice.${table}`;
      const { rows, bytes } = await read(
        `SELECT count(*) AS rows, pg_total_relation_size('${name}') AS bytes FROM ${name}`,
      );
      tables.push({ table, rows: Number(rows), bytes: Number(bytes) });
    }
    return tables;
  }

  function connectCounted(token: string): ReturnType<typeof connect> {
    const connection = connect({ url: address, token, ca });
    return {
      ...connection,
      async send(path, body) {
        requests += 1;
        return connection.send(path, body);
      },
      open(path, body, on) {
        requests += 1;
        return connection.open(path, body, on);
      },
    };
  }
  const caller = connectCounted(CALLER_TOKEN);
  let submitted = 0;
  const stops: (() => Promise<void>)[] = [];

  return {
    async startWorkers(count, agent) {
      const self = { host: 'virtual', version: '0', engines: [] };
      const start = async (number: number): Promise<void> => {
        const connection = connectCounted(WORKER_TOKEN);
        const remote = await retry(() => openRemotePorts({ connection, data, filters: {}, token: WORKER_TOKEN }, self));
        const worker = startVirtualWorker(remote, { id: `worker-${number}`, data, agent });
        stops.push(async () => {
          await worker.stop();
          remote.close();
        });
      };
      for (let number = 0; number < count; number += CONNECTING)
        await Promise.all(
          Array.from({ length: Math.min(CONNECTING, count - number) }, (_, index) => start(number + index)),
        );
    },
    async submit(issue) {
      const order = {
        issue_ref: `local#${issue}`,
        role: 'backend',
        worker: 'agent',
        repo: nameRepository((submitted += 1) % REPOSITORIES),
        instructions: 'Add a test for every branch of the parser that none covers yet. '.repeat(15),
        request_id: issue,
      };
      await retry(() => caller.send('/v1/orders', order));
    },
    async measure(name, work) {
      const [tablesBefore, before] = [await readTables(), await readUsage()];
      await work();
      const [after, tablesAfter] = [await readUsage(), await readTables()];
      const used = subtract(after, before);
      console.error(`  ${name}: ${Math.round(used.seconds)} s`);
      const tables = tablesAfter.map(({ table, rows, bytes }, index) => ({
        table,
        rows: rows - (tablesBefore[index]?.rows ?? 0),
        bytes: bytes - (tablesBefore[index]?.bytes ?? 0),
      }));
      return { used, tables };
    },
    async waitUntilStarted(issues, runs) {
      const count = `SELECT count(started_at) FROM sluice.runs WHERE order_issue_ref LIKE 'local#${issues}-%'`;
      await waitUntil(async () => Number((await read(count))['count']) === runs);
    },
    async waitUntilStored() {
      const count = `SELECT (SELECT count(*) FROM sluice.runs WHERE state <> 'ended')
        + (SELECT count(*) FROM sluice.outbox WHERE state <> 'delivered') AS open`;
      await waitUntil(async () => Number((await read(count))['open']) === 0);
      // A run whose worker was lost is packed later, in case another server has more of it.
      await waitUntil(
        async () =>
          (await countEntries('runs')) <= (await countEntries('incoming')) &&
          (await countEntries('packed/upload')) === 0,
      );
    },
    async countLost(orders) {
      const { settled, advanced } = await read(
        `SELECT count(DISTINCT issue_ref) AS settled, count(*) FILTER (WHERE decision = 'advance') AS advanced FROM sluice.executions`,
      );
      if (Number(settled) !== orders) throw new Error(`Of ${orders} orders ${settled} were settled.`);
      return orders - Number(advanced);
    },
    async readStarts(issues) {
      const { p50, p95 } = await read(
        `SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY waited) AS p50, percentile_cont(0.95) WITHIN GROUP (ORDER BY waited) AS p95
         FROM (SELECT started_at - created_at AS waited FROM sluice.runs WHERE order_issue_ref LIKE 'local#${issues}-%') AS starts`,
      );
      return { p50: Number(p50), p95: Number(p95) };
    },
    get connections() {
      return connections;
    },
    async readMemory() {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return Math.round(Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024);
    },
    async close() {
      clearInterval(watch);
      await Promise.all(stops.map(async (stop) => stop()));
      caller.close();
      await observer.end();
      child.kill('SIGTERM');
      await once(child, 'exit');
      await postgres.stop();
      await archive.close();
      for (const each of [postgresFolder, folder]) await rm(each, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function waitUntil(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await sleep(200);
}

/** A server that is busy refuses requests, and workers try again. */
async function retry<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === MAX_TRIES) throw error;
      await sleep(500 * tries);
    }
  }
}

const nameRepository = (number: number): string => `https://git.example.org/team/project-${number}.git`;

/** Starts a server as an operator would: with TLS, an archive, and without its own worker. */
async function startServer(
  folder: string,
  database: string,
  endpoint: string,
): Promise<{ readonly child: ChildProcess; readonly address: string }> {
  const config = join(folder, 'server.json');
  const settings = {
    server: { tls: CERTIFICATE },
    archive: 's3://runs/team?keep_local=false',
    packing: { after_s: 0 },
    repos: Array.from({ length: REPOSITORIES }, (_, number) => nameRepository(number)),
    wrappers: { agent: { type: 'script', command: ['agent'], inject: 'env' } },
    tokens: [
      { name: 'fleet', scopes: ['worker'], value: WORKER_TOKEN },
      { name: 'caller', scopes: ['run'], value: CALLER_TOKEN },
    ],
  };
  await writeFile(config, JSON.stringify(settings));
  const args = ['serve', '--no-worker', '--no-demo', '--port', '0', '--config', config, '--database', database];
  const child = spawn(process.execPath, [COMMAND, ...args, '--data', join(folder, 'data')], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...process.env,
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
      AWS_ENDPOINT_URL_S3: endpoint,
    },
  });
  const [printed] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, address: printed.toString().trim().replace('127.0.0.1', 'localhost') };
}

/** Starts an object store in this process, and counts what it is sent. */
async function startArchive(directory: string) {
  const server = new S3rver({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets: [{ name: 'runs' }],
  });
  const { port } = await server.run();
  const usage = { archiveWrites: 0, archiveReads: 0, archiveBytes: 0 };
  // No other server is in this process.
  subscribe('http.server.request.start', (message) => {
    const { method, headers } = (message as { readonly request: IncomingMessage }).request;
    if (method === 'PUT' || method === 'POST') {
      usage.archiveWrites += 1;
      usage.archiveBytes += Number(headers['content-length'] ?? 0);
    } else usage.archiveReads += 1;
  });
  return { endpoint: `http://127.0.0.1:${port}`, usage, close: async () => server.close() };
}
