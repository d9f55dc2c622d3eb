import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { connect, openRemotePorts } from '../../src/server/worker/index.js';
import { sampleSpec } from '../../src/store/contract/fixtures/run-samples.js';
import { openStore } from '../../src/store/index.js';
import { report } from '../report.js';
import { makeFolder } from '../temporary-folder.js';
import { openWithRetries } from './fixtures/open-with-retries.js';
import { queryServer } from './measure-load.js';
import { startVirtualWorker } from './virtual-worker.js';
import { makeWorkerSite } from './worker-site.js';
import { AUTHORITY, WORKER_TOKEN } from './worker-token.js';

/** A thousand in `npm run torture`. */
const WORKERS = Number(process.env['VIRTUAL_WORKERS'] ?? 60);
const RUNS_PER_WORKER = 2;
/** All workers are in this one process, which can take a minute for a renewal of each; real ones have their own. */
const LEASE_MS = 30_000 + WORKERS * 100;
/** The pool of a server and its listening connection, and those of this test's store. */
const SERVER_CONNECTIONS = 11;
const OWN_CONNECTIONS = 3;

const COUNT_CONNECTIONS = `SELECT count(*) AS connections FROM pg_stat_activity
  WHERE application_name = 'sluice' AND datname = current_database()`;

it(
  'any number of workers over HTTPS need only the connections of their server, and each run is executed once',
  { timeout: 120_000 + WORKERS * 500 },
  async () => {
    const { url, server } = await makeWorkerSite(0, { route: 'https', leaseMs: LEASE_MS });
    const store = await openStore(url, { pool: OWN_CONNECTIONS - 1 });
    onTestFinished(async () => store.close());
    const data = await makeFolder({});
    const ca = await readFile(AUTHORITY, 'utf8');
    const ended: string[] = [];
    const open = async (number: number) => {
      const address = `https://localhost:${server?.port}`;
      const connection = connect({ url: address, token: WORKER_TOKEN, ca });
      const self = { host: 'virtual', version: '0', engines: [] };
      // All in this one process, which can take longer for their first requests than the server waits.
      const remote = await openWithRetries(async () =>
        openRemotePorts({ connection, data, filters: {}, token: WORKER_TOKEN }, self),
      );
      const worker = startVirtualWorker(remote, {
        id: `w${number}`,
        data,
        agent: async (print) => {
          for (let line = 1; line <= 5; line += 1) await print([`line ${line}`]);
        },
        onEnd: (runId) => void ended.push(runId),
      });
      return async () => {
        await worker.stop();
        remote.close();
      };
    };
    const stops = await Promise.all(Array.from({ length: WORKERS }, async (_, number) => open(number)));
    const ids = Array.from({ length: WORKERS * RUNS_PER_WORKER }, (_, number) => `run-${number}`);
    for (const id of ids) {
      const spec = sampleSpec({ workdir: join('/srv', id) });
      await store.createRun({ id, spec, state: 'queued', now: store.now() });
    }
    const counts: number[] = [];
    const countOpen = async (): Promise<number> => {
      counts.push(Number((await queryServer<{ readonly connections: string }>(url, COUNT_CONNECTIONS)).connections));
      return ids.length - ended.length;
    };
    await expect.poll(countOpen, { timeout: 60_000 + WORKERS * 400, interval: 100 }).toBe(0);
    expect(Math.max(...counts)).toBeLessThanOrEqual(SERVER_CONNECTIONS + OWN_CONNECTIONS);
    await Promise.all(stops.map(async (stop) => stop()));
    expect(ended.toSorted()).toEqual(ids.toSorted());
    const results = await Promise.all(ids.map(async (id) => (await store.findRun(id))?.result?.status));
    expect(new Set(results)).toEqual(new Set(['success']));
    report(
      `${WORKERS} workers over HTTPS, ${ids.length} runs: at most ${Math.max(...counts)} connections to PostgreSQL`,
    );
  },
);
