import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Store } from '../src/store/store.js';
import { createPostgresServer } from '../test/postgres/postgres-server.js';
import { AUTHORITY, CERTIFICATE, WORKER_TOKEN } from '../test/postgres/worker-token.js';
import { createDatabase } from './create-database.js';
import { atMost, formatMs, type PartResult } from './part-result.js';
import { createLead, openStore } from './product.js';

const COMMAND = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const SAMPLES = 150;
/** Between two runs, so that each finds its worker idle. */
const PAUSE_MS = 50;
const MAX_RATIO = 1.2;
/** Orders that are submitted at once, to workers with few and with many slots. */
const ORDERS = 64;
const ROUNDS = 5;
const SLOTS = [4, 16] as const;

/** An agent that writes when it has started to a file, and reports at once. */
const AGENT = `date +%s%N > "$1.new"; mv "$1.new" "$1"
printf '{"issue_ref":"%s","run_id":"%s","status":"ok","changes":{},"tests":"n/a","summary":"Done."}' \\
  "$SLUICE_ISSUE_REF" "$SLUICE_RUN_ID" > "$SLUICE_RUN_DIR/work_result.json"
`;

/** A worker that waits for runs, and the store it gets them from. */
interface Site {
  readonly store: Store;
  readonly data: string;
  /** A git repository. */
  readonly work: string;
  /** The file with the time of the last agent's start. */
  readonly started: string;
}

/** Measures how soon a worker starts an agent, over HTTPS and with a connection to the database. */
export async function runWorkers(): Promise<PartResult> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const serverFolder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const postgres = await createPostgresServer(serverFolder);
  const processes: ChildProcess[] = [];
  try {
    await postgres.start();
    const open = async (name: string): Promise<Site & { readonly url: string; readonly data: string }> => {
      const url = await createDatabase(postgres.url, name);
      const [data, work] = [join(folder, name, 'data'), join(folder, name, 'work')];
      for (const each of [data, work]) await mkdir(each, { recursive: true });
      await writeFile(join(work, 'README.md'), 'x');
      const git = (...args: readonly string[]) => execFileSync('git', ['-C', work, ...args]);
      git('init', '--quiet');
      git('add', '.');
      git('-c', 'user.name=bench', '-c', 'user.email=bench@example.org', 'commit', '--quiet', '-m', 'Begin');
      return { url, data, work, started: join(folder, name, 'started'), store: await openStore(url) };
    };
    const [database, https] = [await open('by_database'), await open('by_https')];
    const start = async (args: readonly string[], data: string): Promise<string> => {
      const child = spawn(process.execPath, [COMMAND, ...args, '--data', data], {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, SLUICE_WORKER_TOKEN: WORKER_TOKEN, SLUICE_SANDBOX: 'off' },
      });
      processes.push(child);
      // The address goes to stdout, the log to stderr.
      const [printed] = (await once(args[0] === 'serve' ? child.stdout : child.stderr, 'data')) as [Buffer];
      return printed.toString().trim();
    };
    const tokens = [{ name: 'fleet', scopes: ['worker'], value: WORKER_TOKEN }];
    const configure = async (name: string, site: Site, more: object): Promise<string> => {
      const file = join(folder, name);
      await writeFile(file, JSON.stringify({ ...more, roots: [site.work], wrappers: createWrappers(site) }));
      return file;
    };
    await writeFile(join(folder, 'agent.sh'), AGENT);
    const own = await configure('worker.json', database, {});
    await start(['worker', '--config', own, '--database', database.url], database.data);
    const config = await configure('server.json', https, { server: { tls: CERTIFICATE }, tokens });
    const serve = ['serve', '--no-worker', '--no-demo', '--port', '0', '--config', config, '--database', https.url];
    const address = (await start(serve, https.data)).replace('127.0.0.1', 'localhost');
    await start(['worker', '--server', address, '--ca', AUTHORITY], join(folder, 'remote'));
    const [runs, orders] = [await measure([database, https], startRun), await measure([database, https], startOrder)];
    const sites: Site[] = [];
    for (const slots of SLOTS) {
      const site = await open(`slots_${slots}`);
      const args = ['--config', await configure(`slots-${slots}.json`, site, {}), '--database', site.url];
      await start(['worker', '--concurrency', String(slots), ...args], site.data);
      sites.push(site);
    }
    const [few = [], many = []] = await measureSlots(sites);
    for (const { store } of [database, https, ...sites]) await store.close();
    const [byDatabase = [], byHttps = []] = orders;
    return {
      title: 'Workers over HTTPS',
      targets: [
        ...[0.5, 0.95].map((part) =>
          atMost(
            `from the submission of an order to the start of its agent, p${part * 100}`,
            percentile(byHttps, part) / percentile(byDatabase, part),
            MAX_RATIO,
            'a worker with a database',
          ),
        ),
        atMost(
          `${ORDERS} whole orders with ${SLOTS[1]} slots`,
          percentile(many, 0.5) / percentile(few, 0.5),
          1,
          `the time with ${SLOTS[0]}`,
        ),
      ],
      tables: [
        {
          title: `Claim to start, ${SAMPLES} each, taking turns; PostgreSQL, TLS, all on this host`,
          columns: ['from submission to', 'worker', 'p50', 'p95', 'slowest'],
          rows: [
            ...renderRows("the start of an order's agent, in a worktree", orders),
            ...renderRows('the recorded start of a run, before its process is launched', runs),
          ],
        },
      ],
      groups: [],
    };
  } finally {
    for (const child of processes) {
      const exited = child.exitCode === null ? once(child, 'exit') : undefined;
      child.kill('SIGTERM');
      await exited;
    }
    await postgres.stop();
    for (const each of [serverFolder, folder]) await rm(each, { recursive: true, force: true });
  }
}

/** Starts work at each site in turn; returns the milliseconds that each start took. The first ones warm up. */
async function measure(
  sites: readonly Site[],
  startOne: (site: Site, number: number) => Promise<number>,
): Promise<readonly (readonly number[])[]> {
  const times = sites.map((): number[] => []);
  for (let number = -10; number < SAMPLES; number += 1) {
    for (const [index, site] of sites.entries()) {
      const ms = await startOne(site, number);
      if (number >= 0) times[index]?.push(ms);
      await sleep(PAUSE_MS);
    }
  }
  return times;
}

/** Lets each site execute many orders in turn; returns the milliseconds that each round took. The first round warms up. */
async function measureSlots(sites: readonly Site[]): Promise<readonly (readonly number[])[]> {
  const times = sites.map((): number[] => []);
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [index, site] of sites.entries()) {
      const numbers = Array.from({ length: ORDERS }, (_, number) => round * ORDERS + number);
      const began = performance.now();
      await Promise.all(numbers.map(async (number) => submitOrder(site, number)));
      if (round > 0) times[index]?.push(performance.now() - began);
    }
  }
  return times;
}

async function startRun({ store, work }: Site, number: number): Promise<number> {
  const id = `run-${number}`;
  const spec = { engine: 'command', command: ['/bin/true'], workdir: work } as const;
  const created = store.now();
  await store.createRun({ id, spec, state: 'queued', now: created });
  const record = await waitForEnd(store, id);
  if (record.result?.status !== 'success') throw new Error(`The run ended as ${record.result?.status}.`);
  return Date.parse(record.started_at ?? '') - created;
}

async function startOrder(site: Site, number: number): Promise<number> {
  const submitted = performance.timeOrigin + performance.now();
  await submitOrder(site, number);
  return Number(await readFile(site.started, 'utf8')) / 1e6 - submitted;
}

/** Submits an order, and waits until it is settled. */
async function submitOrder(site: Site, number: number): Promise<void> {
  const { store, data, work } = site;
  const lead = createLead({ store, data, wrappers: createWrappers(site) });
  const request = { role: 'backend', repo_dir: work, worker: 'agent', instructions: 'Work.', expects: 'report' };
  const { run } = await lead.submit({ ...request, issue_ref: `local#${number + 11}` });
  await waitForEnd(store, run);
  await lead.close();
}

function createWrappers({ work, started }: Site) {
  const script = join(work, '../../agent.sh');
  return { agent: { type: 'script', command: ['/bin/sh', script, started] } };
}

async function waitForEnd(store: Store, id: string) {
  for (;;) {
    const record = await store.findRun(id);
    if (record?.state === 'ended') return record;
    await sleep(20);
  }
}

function renderRows(what: string, [byDatabase = [], byHttps = []]: readonly (readonly number[])[]) {
  return [['with a database', byDatabase] as const, ['over HTTPS', byHttps] as const].map(([name, samples]) => [
    what,
    name,
    ...[0.5, 0.95, 1].map((part) => formatMs(percentile(samples, part))),
  ]);
}

function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN;
}
