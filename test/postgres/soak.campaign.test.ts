import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../src/server/client/index.js';
import { openStore } from '../../src/store/index.js';
import type { Store } from '../../src/store/index.js';
import { report } from '../report.js';
import { makeSoakSite, measureProcess, WORK_FOLDERS } from './soak-site.js';
import type { SoakSite } from './soak-site.js';

/** An hour in `npm run torture`. */
const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 6);
/** The interval between two worker kills; every third kill comes with a database outage. */
const KILL_EVERY_MS = Math.min(20_000, (SECONDS * 1000) / 3);
const OUTAGE_MS = 1500;
const SAMPLE_MS = Math.min(5000, (SECONDS * 1000) / 8);

/** The server's acknowledgements, their latency, and its resource usage. */
interface Journal {
  readonly runs: { readonly id: string; events: number; isComplete: boolean }[];
  readonly orders: { readonly issueRef: string; readonly runId: string }[];
  readonly writes: number[];
  readonly reads: number[];
  readonly samples: { readonly bytes: number; readonly descriptors: number }[];
  readonly failures: string[];
  kills: number;
  outages: number;
}

/**
 * Runs callers and injects faults until the signal is aborted; resolves once the last reader has received its last
 * event.
 */
async function soak(site: SoakSite, signal: AbortSignal): Promise<Journal> {
  const journal: Journal = {
    runs: [],
    orders: [],
    writes: [],
    reads: [],
    samples: [],
    failures: [],
    kills: 0,
    outages: 0,
  };
  const client = createClient({ url: site.url });
  const measure = async <T>(times: number[], call: () => Promise<T>): Promise<T> => {
    const start = performance.now();
    const value = await call();
    times.push(performance.now() - start);
    return value;
  };
  /** Repeats a call until the soak ends, even if it fails during an outage. */
  const repeat = async (work: (turn: number) => Promise<unknown>, pauseMs: number): Promise<void> => {
    for (let turn = 0; !signal.aborted; turn += 1) {
      await work(turn).catch(() => undefined);
      await pause(pauseMs);
    }
  };
  const run = async (number: number, turn: number): Promise<void> => {
    const workdir = join(site.folder, 'work', String(number));
    const command = ['/bin/sh', join(site.folder, 'print.sh'), String(turn)];
    const { id } = await measure(journal.writes, async () =>
      client.startRun({ body: { engine: 'command', command, workdir } }),
    );
    const entry = { id, events: 0, isComplete: false };
    journal.runs.push(entry);
    try {
      for await (const _ of client.followRun({ id, protocol: 'fcmp' })) entry.events += 1;
      entry.isComplete = true;
    } catch (error) {
      journal.failures.push(`reader of ${id}: ${String(error)}`);
    }
  };
  const order = async (number: number, turn: number): Promise<void> => {
    const issue_ref = `local#${number}-${turn}`;
    const repo_dir = join(site.folder, 'work', String(number));
    const instructions = turn % 4 === 3 ? 'blocked' : 'ok';
    const body = { issue_ref, role: 'qa', repo_dir, worker: 'scripted', instructions, expects: 'report' } as const;
    // The same id each time, because the server might have accepted the order before an outage.
    const request = { ...body, request_id: issue_ref };
    const { run_id } = await measure(journal.writes, async () => client.submitOrder({ body: request }));
    journal.orders.push({ issueRef: issue_ref, runId: run_id });
    // One at a time: if orders arrived faster than they are executed, the queue would only grow.
    const isOpen = async (): Promise<boolean> => {
      const { orders } = await measure(journal.reads, async () => client.getIssue({ ref: issue_ref }));
      return orders.some(({ state }) => state === 'queued' || state === 'running');
    };
    while (!signal.aborted && (await isOpen().catch(() => true))) await pause(200);
  };
  const read = async (): Promise<void> => {
    await measure(journal.reads, async () => client.listRuns({ query: { limit: 50 } }));
    await measure(journal.reads, async () => client.listInbox({}));
    await measure(journal.reads, async () => fetch(`${site.url}/metrics`).then(async (response) => response.text()));
  };
  const injectFault = async (turn: number): Promise<void> => {
    await pause(KILL_EVERY_MS, undefined, { signal });
    journal.kills += 1;
    await site.replaceWorker();
    if (turn % 3 !== 0) return;
    journal.outages += 1;
    await site.database.kill();
    await pause(OUTAGE_MS);
    await site.database.start();
  };
  const sample = async (): Promise<void> => void journal.samples.push(await measureProcess(site.server.pid ?? 0));

  const folderCount = WORK_FOLDERS / 2;
  const loops = [
    ...Array.from({ length: folderCount }, async (_, number) => repeat(async (turn) => run(number, turn), 50)),
    ...Array.from({ length: folderCount }, async (_, number) =>
      repeat(async (turn) => order(folderCount + number, turn), 50),
    ),
    repeat(read, 300),
    repeat(injectFault, 0),
    repeat(sample, SAMPLE_MS),
  ];
  await Promise.all(loops);
  return journal;
}

async function waitUntilIdle(store: Store): Promise<void> {
  const countOpen = async () => {
    const { runs, orders } = await store.countOpenWork();
    return runs.queued + runs.running + runs.waiting + orders.queued + orders.running;
  };
  await expect.poll(countOpen, { timeout: 120_000, interval: 500 }).toBe(0);
}

/**
 * Asserts that all runs have ended and that their readers received all events; returns the number of runs that lost
 * their worker.
 */
async function checkRuns(store: Store, { runs }: Journal): Promise<number> {
  let lostCount = 0;
  for (const { id, events, isComplete } of runs) {
    const record = await store.findRun(id);
    if (record?.state !== 'ended') throw new Error(`the run ${id} is ${record?.state}`);
    if (record.result?.error?.code === 'WORKER_GONE') lostCount += 1;
    const stored = await store.read({ runId: id, protocol: 'fcmp', limit: 1000 });
    if (!isComplete || stored.length !== events)
      throw new Error(`a reader of ${id} got ${events} of ${stored.length} events`);
  }
  return lostCount;
}

/** Asserts that all orders are settled and none was executed twice; returns the number that need a human decision. */
async function checkOrders(store: Store, site: SoakSite, { orders }: Journal): Promise<number> {
  let needsHuman = 0;
  for (const { issueRef, runId } of orders) {
    const record = await store.findOrder(issueRef, runId);
    if (record?.state !== 'settled') throw new Error(`the order of ${issueRef} is ${record?.state}`);
    if (record.decision?.action === 'needs-human') needsHuman += 1;
  }
  const effects: string[] = [];
  for (let number = 0; number < WORK_FOLDERS; number += 1) {
    const text = await readFile(join(site.folder, 'work', String(number), 'effects'), 'utf8').catch(() => '');
    effects.push(...text.split('\n').filter(Boolean));
  }
  expect(effects.length).toBe(new Set(effects).size);
  return needsHuman;
}

function computePercentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? 0);
}

function describeTimes(times: readonly number[]): string {
  return `half within ${computePercentile(times, 0.5)} ms, 99 % within ${computePercentile(times, 0.99)} ms, the slowest ${computePercentile(times, 1)} ms`;
}

function computeAverage(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

const MEGABYTE = 1024 * 1024;

describe('a server under load', () => {
  it(
    'loses nothing to killed workers and database outages, and does not leak memory or descriptors',
    { timeout: SECONDS * 1000 + 300_000 },
    async () => {
      const site = await makeSoakSite({ isDurable: SECONDS > 60 });
      const journal = await soak(site, AbortSignal.timeout(SECONDS * 1000));
      const store = await openStore(site.database.url);
      onTestFinished(async () => store.close());
      await waitUntilIdle(store);
      const [lost, needsHuman] = [await checkRuns(store, journal), await checkOrders(store, site, journal)];
      expect(journal.failures).toEqual([]);
      expect(journal.runs.length).toBeGreaterThan(0);
      expect(journal.orders.length).toBeGreaterThan(0);
      expect(site.server.exitCode).toBeNull();

      // All caches are full after the first quarter, so further growth would be a leak.
      const { samples } = journal;
      const quarter = Math.ceil(samples.length / 4);
      const secondQuarter = samples.slice(quarter, 2 * quarter);
      const lastQuarter = samples.slice(-quarter);
      const [before, after] = [secondQuarter, lastQuarter].map((part) => ({
        bytes: computeAverage(part.map(({ bytes }) => bytes)),
        descriptors: computeAverage(part.map(({ descriptors }) => descriptors)),
      }));
      expect(after?.bytes).toBeLessThan((before?.bytes ?? 0) * 1.5 + 64 * MEGABYTE);
      expect(after?.descriptors).toBeLessThan((before?.descriptors ?? 0) + 50);
      const memory = samples.map(({ bytes }) => Math.round(bytes / MEGABYTE));
      const descriptors = samples.map((each) => each.descriptors);
      report(
        `${SECONDS} s: ${journal.runs.length} runs and ${journal.orders.length} orders acknowledged, none lost; ${journal.kills} workers killed, ${journal.outages} database outages; ` +
          `${lost} runs ended with their worker, ${needsHuman} orders went to a human; ` +
          `server memory ${memory[0]} MB at first, ${Math.round((before?.bytes ?? 0) / MEGABYTE)} in the second quarter, ${Math.round((after?.bytes ?? 0) / MEGABYTE)} in the last, at most ${Math.max(...memory)}; ` +
          `descriptors ${descriptors[0]} at first, ${Math.round(computeAverage(lastQuarter.map((each) => each.descriptors)))} in the last quarter, at most ${Math.max(...descriptors)}; ` +
          `${journal.writes.length} writes: ${describeTimes(journal.writes)}; ${journal.reads.length} reads: ${describeTimes(journal.reads)}`,
      );
    },
  );
});
