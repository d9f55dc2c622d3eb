import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { queryServer, readLoad } from '../test/postgres/measure-load.js';
import { createPostgresServer } from '../test/postgres/postgres-server.js';
import { startVirtualWorker } from '../test/postgres/virtual-worker.js';
import { AUTHORITY, CERTIFICATE, WORKER_TOKEN } from '../test/postgres/worker-token.js';
import { createDatabase } from './create-database.js';
import { extrapolate, subtract, type Usage } from './extrapolate.js';
import type { PartResult } from './part-result.js';
import { connect, openRemotePorts, openStore } from './product.js';

const COMMAND = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const WORKERS = 1000;
const IDLE_S = 20;
const RUNS = 3000;
/** Runs that are submitted together, to keep the queue from being the limit. */
const BATCH = 50;
const ACTIVE_S = 30;
/** A simulated agent: minutes pass in this time, and it prints as much as a short one. */
const AGENT = { agentMs: () => 500, events: 40, outputBytes: 10_000 };
const MAX_CONNECTIONS = 100;

/**
 * Simulates a fleet: a thousand workers over HTTPS, each with its own connections, one server and one PostgreSQL. Only the
 * agents are simulated; the time between their events is left out. Measures what an idle worker, a run and a renewal cost,
 * and extrapolates a month.
 */
export async function runSimulation(): Promise<PartResult> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const serverFolder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const postgres = await createPostgresServer(serverFolder, ['-c', `max_connections=${MAX_CONNECTIONS}`]);
  let server: ChildProcess | undefined;
  try {
    await postgres.start();
    const url = await createDatabase(postgres.url, 'simulation');
    const store = await openStore(url, { pool: 4 });
    const started = await startServer(folder, url);
    server = started.server;
    const requests = { count: 0, bytes: 0 };
    let agentMs = AGENT.agentMs;
    const data = join(folder, 'workers');
    const agent = { ...AGENT, agentMs: () => agentMs() };
    const stops = await startWorkers(started.address, data, requests, agent);
    const child = started.server;
    const measure = async (): Promise<Usage> => {
      const load = await readLoad(url, [{ child, ready: Promise.resolve(), isReady: true }]);
      const { wal, size } = await queryServer<{ readonly wal: string; readonly size: string }>(
        url,
        `SELECT pg_current_wal_insert_lsn() - '0/0' AS wal, pg_database_size(current_database()) AS size`,
      );
      return {
        seconds: load.at / 1000,
        requests: requests.count,
        requestBytes: requests.bytes,
        transactions: load.transactions,
        walBytes: Number(wal),
        databaseBytes: Number(size),
        serverCpu: load.workerCpu,
        databaseCpu: load.serverCpu,
      };
    };
    const connections = watchConnections(url);
    const submit = async (first: number, count: number): Promise<void> => {
      for (let number = first; number < first + count; number += BATCH) {
        const ids = Array.from(
          { length: Math.min(BATCH, first + count - number) },
          (_, index) => `run-${number + index}`,
        );
        await Promise.all(
          ids.map(async (id) => store.createRun({ id, spec: makeSpec(id), state: 'queued', now: store.now() })),
        );
      }
    };

    await sleep(10_000);
    const idleStart = await measure();
    await sleep(IDLE_S * 1000);
    const idleEnd = await measure();
    await submit(0, RUNS);
    // Not until each has reported its end: a request can fail, and the server then ends the run.
    const isOpen = async (): Promise<boolean> => {
      const { runs } = await store.countOpenWork();
      return runs.queued + runs.running > 0;
    };
    while (await isOpen()) await sleep(500);
    const runsEnd = await measure();
    // Every worker has a run that goes on for the whole measurement: only renewals and reports happen.
    agentMs = () => 2 * (ACTIVE_S + 30) * 1000;
    await submit(RUNS, WORKERS);
    while ((await store.countOpenWork()).runs.running < WORKERS) await sleep(200);
    await sleep(5000);
    const activeStart = await measure();
    await sleep(ACTIVE_S * 1000);
    const activeEnd = await measure();
    const most = await connections.stop();
    const memory = await readMemory(server.pid ?? 0);
    await store.close();
    void stops;
    const costs = {
      idle: subtract(idleEnd, idleStart),
      runs: subtract(runsEnd, idleEnd),
      active: subtract(activeEnd, activeStart),
    };
    return {
      title: 'Simulation',
      targets: [
        {
          what: `connections to PostgreSQL with ${WORKERS.toLocaleString('en-US')} workers over HTTPS`,
          limit: `≤ ${MAX_CONNECTIONS}`,
          measured: String(most),
          met: most <= MAX_CONNECTIONS,
        },
      ],
      tables: extrapolate({
        workers: WORKERS,
        runs: RUNS,
        costs,
        connections: most,
        serverMegabytes: memory,
        ...AGENT,
      }),
      groups: [],
    };
  } finally {
    // Its workers hold runs that would go on for minutes.
    server?.kill('SIGKILL');
    await postgres.stop();
    for (const each of [serverFolder, folder]) await rm(each, { recursive: true, force: true, maxRetries: 5 });
  }
}

const makeSpec = (id: string) => ({ engine: 'command', command: ['agent'], workdir: `/srv/${id}` }) as const;

/** Starts a server with TLS and without a worker, as an operator would. */
async function startServer(folder: string, url: string) {
  const config = join(folder, 'server.json');
  const tokens = [{ name: 'fleet', scopes: ['worker'], value: WORKER_TOKEN }];
  await writeFile(config, JSON.stringify({ server: { tls: CERTIFICATE }, roots: [folder], tokens }));
  const args = ['serve', '--no-worker', '--no-demo', '--port', '0', '--config', config, '--database', url];
  const server = spawn(process.execPath, [COMMAND, ...args, '--data', join(folder, 'data')], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [printed] = (await once(server.stdout, 'data')) as [Buffer];
  return { server, address: printed.toString().trim().replace('127.0.0.1', 'localhost') };
}

/** Starts the workers of the fleet, and counts their requests. */
async function startWorkers(
  url: string,
  data: string,
  requests: { count: number; bytes: number },
  agent: Omit<Parameters<typeof startVirtualWorker>[1], 'id' | 'data'>,
) {
  await mkdir(data);
  const ca = await readFile(AUTHORITY, 'utf8');
  const self = { host: 'virtual', version: '0', engines: [] };
  const workers: ReturnType<typeof startVirtualWorker>[] = [];
  for (let number = 0; number < WORKERS; number += 1) {
    const connection = connect({ url, token: WORKER_TOKEN, ca });
    const counted = {
      ...connection,
      async send(path: string, body: unknown) {
        requests.count += 1;
        requests.bytes += JSON.stringify(body).length;
        return connection.send(path, body);
      },
    };
    const remote = await openRemotePorts({ connection: counted, data, filters: {}, token: WORKER_TOKEN }, self);
    workers.push(startVirtualWorker(remote, { id: `worker-${number}`, data, ...agent }));
  }
  return workers;
}

/** Counts the connections of Sluice again and again; `stop` returns the maximum. */
function watchConnections(url: string) {
  let most = 0;
  const over = new AbortController();
  const count = `SELECT count(*) AS connections FROM pg_stat_activity WHERE application_name = 'sluice'`;
  const watch = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const { connections } = await queryServer<{ readonly connections: string }>(url, count);
      most = Math.max(most, Number(connections));
      await sleep(500);
    }
  };
  const watching = watch();
  return {
    async stop() {
      over.abort();
      await watching;
      return most;
    },
  };
}

/** The memory of a process, in megabytes. */
async function readMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024);
}
