import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Store } from '../src/store/store.js';
import { createPostgresServer } from '../test/postgres/postgres-server.js';
import { AUTHORITY, CERTIFICATE, WORKER_TOKEN } from '../test/postgres/worker-token.js';
import { createDatabase } from './create-database.js';
import { atMost, formatMs, type PartResult } from './part-result.js';
import { openStore } from './product.js';

const COMMAND = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const SAMPLES = 150;
/** Between two runs, so that each finds its worker idle. */
const PAUSE_MS = 50;
const MAX_RATIO = 1.2;

/** A worker that waits for runs, and the store it gets them from. */
interface Site {
  readonly store: Store;
  readonly work: string;
}

/** Measures how soon a worker starts a run, over HTTPS and with a connection to the database. */
export async function runWorkers(): Promise<PartResult> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const serverFolder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const postgres = await createPostgresServer(serverFolder);
  const processes: ChildProcess[] = [];
  try {
    await postgres.start();
    const open = async (name: string): Promise<Site & { readonly url: string; readonly data: string }> => {
      const url = await createDatabase(postgres.url, name);
      const site = { url, data: join(folder, name, 'data'), work: join(folder, name, 'work') };
      for (const each of [site.data, site.work]) await mkdir(each, { recursive: true });
      return { ...site, store: await openStore(url) };
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
    const config = join(folder, 'server.json');
    const tokens = [{ name: 'fleet', scopes: ['worker'], value: WORKER_TOKEN }];
    await writeFile(config, JSON.stringify({ server: { tls: CERTIFICATE }, roots: [https.work], tokens }));
    await start(['worker', '--database', database.url], database.data);
    const serve = ['serve', '--no-worker', '--no-demo', '--port', '0', '--config', config, '--database', https.url];
    const address = (await start(serve, https.data)).replace('127.0.0.1', 'localhost');
    await start(['worker', '--server', address, '--ca', AUTHORITY], join(folder, 'remote'));
    const times = await measure([database, https]);
    for (const { store } of [database, https]) await store.close();
    const [byDatabase = [], byHttps = []] = times;
    const rows = [
      ['with a database', byDatabase],
      ['over HTTPS', byHttps],
    ] as const;
    return {
      title: 'Workers over HTTPS',
      targets: [
        atMost(
          'from submission to start, p50',
          percentile(byHttps, 0.5) / percentile(byDatabase, 0.5),
          MAX_RATIO,
          'a worker with a database',
        ),
        atMost(
          'from submission to start, p95',
          percentile(byHttps, 0.95) / percentile(byDatabase, 0.95),
          MAX_RATIO,
          'a worker with a database',
        ),
      ],
      tables: [
        {
          title: `From the submission of a run to its start, ${SAMPLES} runs each, taking turns; PostgreSQL, TLS, all on this host`,
          columns: ['worker', 'p50', 'p95', 'slowest'],
          rows: rows.map(([name, samples]) => [
            name,
            ...[0.5, 0.95, 1].map((part) => formatMs(percentile(samples, part))),
          ]),
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

/** Submits runs to each site in turn; returns the milliseconds until each was started. The first ones warm up. */
async function measure(sites: readonly Site[]): Promise<readonly (readonly number[])[]> {
  const times = sites.map((): number[] => []);
  for (let number = -10; number < SAMPLES; number += 1) {
    for (const [index, { store, work }] of sites.entries()) {
      const id = `run-${number}`;
      const spec = { engine: 'command', command: ['/bin/true'], workdir: work } as const;
      const created = store.now();
      await store.createRun({ id, spec, state: 'queued', now: created });
      let record = await store.findRun(id);
      while (record?.state !== 'ended') {
        await sleep(20);
        record = await store.findRun(id);
      }
      if (record.result?.status !== 'success') throw new Error(`The run ended as ${record.result?.status}.`);
      if (number >= 0) times[index]?.push(Date.parse(record.started_at ?? '') - created);
      await sleep(PAUSE_MS);
    }
  }
  return times;
}

function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN;
}
