import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../src/client/index.js';
import { openStore } from '../../src/store/index.js';
import type { Store } from '../../src/store/index.js';
import { report } from '../report.js';
import { makeSoakSite, measureProcess, WORK_FOLDERS } from './soak-site.js';
import type { SoakSite } from './soak-site.js';

/** An hour in `npm run torture`. */
const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 6);
/** The interval between two kills of a worker; every third time the database has an outage as well. */
const KILL_EVERY_MS = Math.min(20_000, (SECONDS * 1000) / 3);
const OUTAGE_MS = 1500;
const SAMPLE_MS = Math.min(5000, (SECONDS * 1000) / 8);

/** Acknowledgements of the server, their latency, and the usage of its process. */
interface Journal {
  readonly runs: { readonly id: string; events: number; isRead: boolean }[];
  readonly orders: { readonly issueRef: string; readonly runId: string }[];
  readonly writes: number[];
  readonly reads: number[];
  readonly samples: { readonly bytes: number; readonly descriptors: number }[];
  readonly failures: string[];
  kills: number;
  outages: number;
}

/** Runs callers and causes faults until the signal is aborted; resolves when the last reader has its last event. */
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
  const timed = async <T>(times: number[], call: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    const value = await call();
    times.push(performance.now() - began);
    return value;
  };
  /** Repeats a call until the soak ends, also after it failed in an outage. */
  const repeat = async (work: (turn: number) => Promise<unknown>, pauseMs: number): Promise<void> => {
    for (let turn = 0; !signal.aborted; turn += 1) {
      await work(turn).catch(() => undefined);
      await pause(pauseMs);
    }
  };
  const run = async (number: number, turn: number): Promise<void> => {
    const workdir = join(site.folder, 'work', String(number));
    const command = ['/bin/sh', join(site.folder, 'talker.sh'), String(turn)];
    const { id } = await timed(journal.writes, async () =>
      client.startRun({ body: { engine: 'command', command, workdir } }),
    );
    const entry = { id, events: 0, isRead: false };
    journal.runs.push(entry);
    try {
      for await (const _ of client.followRun({ id, protocol: 'fcmp' })) entry.events += 1;
      entry.isRead = true;
    } catch (error) {
      journal.failures.push(`reader of ${id}: ${String(error)}`);
    }
  };
  const order = async (number: number, turn: number): Promise<void> => {
    const issue_ref = `local#${number}-${turn}`;
    const repo_dir = join(site.folder, 'work', String(number));
    const instructions = turn % 4 === 3 ? 'blocked' : 'ok';
    const body = { issue_ref, role: 'qa', repo_dir, worker: 'scripted', instructions, expects: 'report' } as const;
    // The same id each time: the server may have accepted the order before an outage.
    const again = { ...body, request_id: issue_ref };
    const { run_id } = await timed(journal.writes, async () => client.submitOrder({ body: again }));
    journal.orders.push({ issueRef: issue_ref, runId: run_id });
    // One at a time: if orders arrived faster than they are executed, the queue would only grow.
    const isOpen = async (): Promise<boolean> => {
      const { orders } = await timed(journal.reads, async () => client.getIssue({ ref: issue_ref }));
      return orders.some(({ state }) => state === 'queued' || state === 'running');
    };
    while (!signal.aborted && (await isOpen().catch(() => true))) await pause(200);
  };
  const read = async (): Promise<void> => {
    await timed(journal.reads, async () => client.listRuns({ query: { limit: 50 } }));
    await timed(journal.reads, async () => client.listInbox({}));
    await timed(journal.reads, async () => fetch(`${site.url}/metrics`).then(async (response) => response.text()));
  };
  const causeFault = async (turn: number): Promise<void> => {
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

  const half = WORK_FOLDERS / 2;
  const loops = [
    ...Array.from({ length: half }, async (_, number) => repeat(async (turn) => run(number, turn), 50)),
    ...Array.from({ length: half }, async (_, number) => repeat(async (turn) => order(half + number, turn), 50)),
    repeat(read, 300),
    repeat(causeFault, 0),
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

/** Asserts that all runs have ended and that their readers received all events; returns how many lost their worker. */
async function checkRuns(store: Store, { runs }: Journal): Promise<number> {
  let lost = 0;
  for (const { id, events, isRead } of runs) {
    const record = await store.findRun(id);
    if (record?.state !== 'ended') throw new Error(`the run ${id} is ${record?.state}`);
    if (record.result?.error?.code === 'WORKER_GONE') lost += 1;
    const stored = await store.read({ runId: id, protocol: 'fcmp', limit: 1000 });
    if (!isRead || stored.length !== events)
      throw new Error(`a reader of ${id} got ${events} of ${stored.length} events`);
  }
  return lost;
}

/** Asserts that all orders are settled and none was executed twice; returns how many went to a person. */
async function checkOrders(store: Store, site: SoakSite, { orders }: Journal): Promise<number> {
  let asked = 0;
  for (const { issueRef, runId } of orders) {
    const record = await store.findOrder(issueRef, runId);
    if (record?.state !== 'settled') throw new Error(`the order of ${issueRef} is ${record?.state}`);
    if (record.decision?.action === 'needs-human') asked += 1;
  }
  const effects: string[] = [];
  for (let number = 0; number < WORK_FOLDERS; number += 1) {
    const text = await readFile(join(site.folder, 'work', String(number), 'effects'), 'utf8').catch(() => '');
    effects.push(...text.split('\n').filter(Boolean));
  }
  expect(effects.length).toBe(new Set(effects).size);
  return asked;
}

function computePercentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((one, other) => one - other);
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
    'loses nothing to killed workers and outages of its database, and does not grow',
    { timeout: SECONDS * 1000 + 300_000 },
    async () => {
      const site = await makeSoakSite({ isDurable: SECONDS > 60 });
      const journal = await soak(site, AbortSignal.timeout(SECONDS * 1000));
      const store = await openStore(site.database.url);
      onTestFinished(async () => store.close());
      await waitUntilIdle(store);
      const [lost, asked] = [await checkRuns(store, journal), await checkOrders(store, site, journal)];
      expect(journal.failures).toEqual([]);
      expect(journal.runs.length).toBeGreaterThan(0);
      expect(journal.orders.length).toBeGreaterThan(0);
      expect(site.server.exitCode).toBeNull();

      // After the first quarter all caches are filled, so further growth would be a leak.
      const { samples } = journal;
      const quarter = Math.ceil(samples.length / 4);
      const early = samples.slice(quarter, 2 * quarter);
      const late = samples.slice(-quarter);
      const [before, after] = [early, late].map((part) => ({
        bytes: computeAverage(part.map(({ bytes }) => bytes)),
        descriptors: computeAverage(part.map(({ descriptors }) => descriptors)),
      }));
      expect(after?.bytes).toBeLessThan((before?.bytes ?? 0) * 1.5 + 64 * MEGABYTE);
      expect(after?.descriptors).toBeLessThan((before?.descriptors ?? 0) + 50);
      const memory = samples.map(({ bytes }) => Math.round(bytes / MEGABYTE));
      const descriptors = samples.map((each) => each.descriptors);
      report(
        `${SECONDS} s: ${journal.runs.length} runs and ${journal.orders.length} orders acknowledged, none lost; ${journal.kills} workers killed, ${journal.outages} outages of the database; ` +
          `${lost} runs ended with their worker, ${asked} orders went to a person; ` +
          `memory of the server ${memory[0]} MB at first, ${Math.round((before?.bytes ?? 0) / MEGABYTE)} in the second quarter, ${Math.round((after?.bytes ?? 0) / MEGABYTE)} in the last, at most ${Math.max(...memory)}; ` +
          `descriptors ${descriptors[0]} at first, ${Math.round(computeAverage(late.map((each) => each.descriptors)))} in the last quarter, at most ${Math.max(...descriptors)}; ` +
          `${journal.writes.length} writes: ${describeTimes(journal.writes)}; ${journal.reads.length} reads: ${describeTimes(journal.reads)}`,
      );
    },
  );
});
