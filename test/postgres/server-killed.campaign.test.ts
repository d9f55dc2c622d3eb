import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isSluiceError } from '../../src/base/sluice-error.js';
import { sampleFcmp } from '../../src/store/contract/fixtures/run-samples.js';
import { sampleSettlement, sampleSubmission } from '../../src/store/contract/fixtures/order-samples.js';
import { openStore, type Store } from '../../src/store/index.js';
import { setUpWorker } from '../../src/orders/dispatch/fixtures/set-up-worker.js';
import { eventually } from './eventually.js';
import { report } from '../report.js';
import { createPostgresServer, type PostgresServer } from './postgres-server.js';
import { FOLDER_PREFIX } from './sweep-leftovers.js';

/** More kills in `npm run torture`. */
const KILLS = Number(process.env['PG_KILLS'] ?? 2);
const WRITERS = 3;
/**
 * The number of orders between two kills, so each kill hits a server under load and not one that has just restarted.
 */
const ORDERS_BETWEEN_KILLS = 30;

/** Starts a server that syncs its writes to disk, as in production. */
async function startServer(): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`));
  const server = await createPostgresServer(folder);
  onTestFinished(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  await server.start();
  return server;
}

interface Journal {
  readonly acknowledged: { readonly issueRef: string; readonly runId: string }[];
  /** Commands that were repeated because their outcome was unknown. */
  repeated: number;
  readonly codes: Set<string>;
}

/** Submits, settles and appends until stopped. Failed commands are repeated, as a lead does after a crash. */
async function write(store: Store, name: string, journal: Journal, signal: AbortSignal): Promise<void> {
  async function retryUntilDone<T>(command: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await command();
      } catch (error) {
        journal.codes.add(isSluiceError(error) ? error.code : String(error));
        journal.repeated += 1;
        await nextTurn();
      }
    }
  }
  for (let turn = 1; !signal.aborted; turn += 1) {
    const issueRef = `local#${name}-${turn}`;
    const submission = sampleSubmission({ issue_ref: issueRef, request_id: issueRef });
    const { record } = await retryUntilDone(async () => store.submitOrder(submission));
    await retryUntilDone(async () => store.settleOrder(sampleSettlement(record)));
    await retryUntilDone(async () => store.append(issueRef, [sampleFcmp(1), sampleFcmp(2)]));
    journal.acknowledged.push({ issueRef, runId: record.order.run_id });
  }
}

/**
 * Checks an issue's data after all its commands were acknowledged; returns a message if anything is missing or
 * duplicated.
 */
async function findLosses(store: Store, { issueRef, runId }: Journal['acknowledged'][number]): Promise<string[]> {
  const [issue, order] = [await store.findIssue(issueRef), await store.findOrder(issueRef, runId)];
  const executions = (await store.listExecutions({ issueRef })).items.length;
  const messages = (await store.listOutbox({ issueRef })).items.length;
  const events = (await store.read({ runId: issueRef, protocol: 'fcmp', limit: 10 })).length;
  const summary = `${issue?.state} ${issue?.last_run_number} ${order?.state} ${executions} ${messages} ${events}`;
  return summary === 'review 1 settled 1 1 2' ? [] : [`${issueRef}: ${summary}`];
}

describe('PostgreSQL killed during writes', () => {
  it(
    'neither loses nor repeats an acknowledged command, and every client reconnects automatically',
    { timeout: 120_000 + KILLS * 60_000 },
    async () => {
      const server = await startServer();
      const store = await openStore(server.url);
      onTestFinished(async () => store.close());
      const journal: Journal = { acknowledged: [], repeated: 0, codes: new Set() };
      let queueCalls = 0;
      onTestFinished(store.watchQueue(() => (queueCalls += 1)));
      const stopWriting = new AbortController();
      const writers = Array.from({ length: WRITERS }, async (_, index) =>
        write(store, String(index), journal, stopWriting.signal),
      );

      for (let kill = 0; kill < KILLS; kill++) {
        const before = journal.acknowledged.length;
        await eventually(() => expect(journal.acknowledged.length).toBeGreaterThan(before + ORDERS_BETWEEN_KILLS));
        await sleep(Math.random() * 200);
        await server.kill();
        await server.start();
      }
      const [callsBefore, before] = [queueCalls, journal.acknowledged.length];
      await eventually(() => expect(journal.acknowledged.length).toBeGreaterThan(before + ORDERS_BETWEEN_KILLS));
      await eventually(() => expect(queueCalls).toBeGreaterThan(callsBefore));
      stopWriting.abort();
      await Promise.all(writers);

      const losses: string[] = [];
      for (const each of journal.acknowledged) losses.push(...(await findLosses(store, each)));
      expect(losses).toEqual([]);
      expect((await store.listIssues({ limit: 1000 })).items.length).toBe(Math.min(1000, journal.acknowledged.length));
      expect([...journal.codes]).toEqual(['STORE_UNAVAILABLE']);
      report(
        `${KILLS} kills: ${journal.acknowledged.length} orders acknowledged, 0 lost, ${journal.repeated} commands repeated`,
      );
    },
  );
});

describe('PostgreSQL restarted while agents work', () => {
  it('causes only a pause: every run succeeds, with all its events', { timeout: 120_000 }, async () => {
    const server = await startServer();
    const store = await openStore(server.url);
    const { start, submit, settled, data } = await setUpWorker({ store });
    start();
    // Each run prints lines until the server has been restarted.
    const restartedFile = join(data, 'back');
    const script = `const { existsSync } = require('node:fs'); console.log('before');
      setInterval(() => { console.log('away'); if (existsSync(${JSON.stringify(restartedFile)})) process.exit(0); }, 50)`;
    const ids = ['RUN1', 'RUN2'];
    for (const id of ids) {
      const workdir = join(data, id);
      await mkdir(workdir);
      const spec = { engine: 'command', command: [process.execPath, '-e', script], workdir } as const;
      await store.createRun({ id, spec, state: 'queued', now: store.now() });
    }
    const hasPrinted = async (id: string) => (await store.read({ runId: id, protocol: 'fcmp', limit: 5 })).length > 0;
    await eventually(async () => expect(await Promise.all(ids.map(hasPrinted))).toEqual([true, true]));
    await server.kill();
    await server.start();
    await writeFile(restartedFile, '');
    for (const id of ids) {
      await expect.poll(async () => (await store.findRun(id))?.result?.status, { timeout: 30_000 }).toBe('success');
      const log = await readFile(join(data, 'runs', id, '.audit', 'fcmp.jsonl'), 'utf8');
      const stored = await store.read({ runId: id, protocol: 'fcmp', limit: 10_000 });
      expect(stored.map(({ event }) => JSON.stringify(event))).toEqual(log.trim().split('\n'));
    }
    expect(await settled(await submit('local#1', { result: 'ok' }))).toMatchObject({ state: 'settled' });
  });
});
