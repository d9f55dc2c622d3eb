import { readFile, readdir } from 'node:fs/promises';
import pg from 'pg';
import type { StartedWorker } from './worker-site.js';

/** A fleet's total load up to a point in time. */
export interface Load {
  readonly connections: number;
  readonly transactions: number;
  /** CPU seconds used by the server and by the workers. */
  readonly serverCpu: number;
  readonly workerCpu: number;
  /** CPU ticks of the host: in total, and idle. */
  readonly ticks: { readonly total: number; readonly idle: number };
  readonly at: number;
}

/** Runs a query on a separate connection. */
export async function queryServer<T extends pg.QueryResultRow>(url: string, query: string): Promise<T> {
  const client = new pg.Client(url);
  // If the server is killed during the query, only the query fails, not the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<T>(query);
    if (rows[0] === undefined) throw new Error('The query returned no row.');
    return rows[0];
  } finally {
    await client.end();
  }
}

/** Measures the fleet's load so far. */
export async function readLoad(url: string, processes: readonly StartedWorker[]): Promise<Load> {
  const { connections, transactions, parent } = await queryServer<{
    readonly connections: string;
    readonly transactions: string;
    readonly parent: number;
  }>(
    url,
    `SELECT (SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sluice') AS connections,
       (SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()) AS transactions,
       (SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer') AS parent`,
  );
  const status = await readFile(`/proc/${parent}/status`, 'utf8');
  const workers = await Promise.all(processes.map(async ({ child }) => readCpu(child.pid ?? 0)));
  return {
    connections: Number(connections),
    transactions: Number(transactions),
    serverCpu: await readProcessTreeCpu(Number(/^PPid:\s+(\d+)/m.exec(status)?.[1])),
    workerCpu: workers.reduce((total, each) => total + each, 0),
    ticks: await readTicks(),
    at: performance.now(),
  };
}

/** Returns the CPU time of a process and its exited children, in seconds. */
async function readCpu(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return fields.reduce((total, ticks) => total + Number(ticks), 0) / 100;
}

async function readProcessTreeCpu(pid: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const isChild = await Promise.all(
    pids.map(async (each) => {
      const status = await readFile(`/proc/${each}/status`, 'utf8').catch(() => '');
      return Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]) === pid;
    }),
  );
  const tree = [pid, ...pids.filter((_, index) => isChild[index])];
  return (await Promise.all(tree.map(readCpu))).reduce((total, each) => total + each, 0);
}

async function readTicks(): Promise<Load['ticks']> {
  const [line = ''] = (await readFile('/proc/stat', 'utf8')).split('\n');
  const numbers = line.trim().split(/\s+/).slice(1, 9).map(Number);
  const [, , , idle = 0, ioWait = 0] = numbers;
  return { total: numbers.reduce((total, each) => total + each, 0), idle: idle + ioWait };
}

/** Computes the idle fraction of the host's CPUs, where all processes count as load. */
export function computeIdleFraction(before: Load, after: Load): number {
  return (after.ticks.idle - before.ticks.idle) / (after.ticks.total - before.ticks.total);
}

/** Describes the fleet's load between two points in time. */
export function describeLoad(before: Load, after: Load): string {
  const seconds = (after.at - before.at) / 1000;
  const perSecond = (after.transactions - before.transactions) / seconds;
  const cores = (key: 'serverCpu' | 'workerCpu') => ((after[key] - before[key]) / seconds).toFixed(2);
  const idle = Math.round(computeIdleFraction(before, after) * 100);
  return `${after.connections} connections, ${perSecond.toFixed(1)} transactions per second, ${cores('serverCpu')} PostgreSQL cores, ${cores('workerCpu')} worker and agent cores; the host was ${idle} % idle`;
}
