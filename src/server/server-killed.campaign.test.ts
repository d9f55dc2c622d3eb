import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { report } from '../../test/report.js';
import { waitUntilNone } from '../../test/until-none.js';
import { createClient } from './client/create-client.js';
import type { Client } from './client/create-client.js';
import type { Emitted } from '../events/index.js';
import { openSite } from '../store/contract/fixtures/open-site.js';
import type { Store } from '../store/store.js';
import { makeServerSite } from './fixtures/server-site.js';

/** More in `npm run torture`. */
const KILLS = Number(process.env['SERVER_KILLS'] ?? 2);

/** Commands that the server acknowledged, and events that readers received. */
interface Acknowledged {
  readonly runs: string[];
  readonly orders: (readonly [issueRef: string, runId: string])[];
  readonly replies: string[];
  readonly decisions: (readonly [itemId: string, action: string])[];
  readonly events: Map<string, object[]>;
}

type Protocol = 'fcmp' | 'rasp';

/** Callers that keep a server busy until they are stopped, even while it is killed and restarted. */
function startLoad(client: () => Client, folder: string) {
  const acknowledged: Acknowledged = { runs: [], orders: [], replies: [], decisions: [], events: new Map() };
  const stopping = new AbortController();
  const failures: unknown[] = [];

  /** Repeats a call, even while the server is down. */
  async function repeat(work: (turn: number) => Promise<unknown>): Promise<void> {
    for (let turn = 0; !stopping.signal.aborted; turn += 1) {
      await work(turn).catch(() => undefined);
      await pause(20);
    }
  }

  async function read(id: string, protocol: Protocol, onEvent: (event: object) => Promise<void>): Promise<void> {
    const events: object[] = [];
    acknowledged.events.set(`${protocol} ${id}`, events);
    try {
      for await (const event of client().followRun({ id, protocol })) {
        events.push(event);
        await onEvent(event);
      }
    } catch (error) {
      failures.push(error);
    }
  }

  async function follow(id: string, onEvent: (event: object) => Promise<void> = async () => undefined): Promise<void> {
    acknowledged.runs.push(id);
    await Promise.all([read(id, 'fcmp', onEvent), read(id, 'rasp', async () => undefined)]);
  }

  async function startTalker(index: number, turn: number): Promise<void> {
    const command = ['/bin/sh', join(folder, 'talker.sh'), String(turn)];
    const workdir = join(folder, 'work', String(index));
    const { id } = await client().startRun({ body: { engine: 'command', command, workdir } });
    await follow(id);
  }

  /**
   * Repeats a request whose response can be lost with the server. A run that asks must be known to its caller: without
   * an answer it would keep its folder for a day, and the next run there would wait for it.
   */
  async function sendUntilAnswered<T>(send: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await send();
      } catch (error) {
        if (tries === 300) throw error;
        await pause(100);
      }
    }
  }

  async function ask(index: number): Promise<void> {
    const workdir = join(folder, 'work', String(index));
    const body = {
      engine: 'codex',
      prompt: 'Paint it.',
      mode: 'interactive',
      workdir,
      request_id: randomUUID(),
    } as const;
    const { id } = await sendUntilAnswered(async () => client().startRun({ body }));
    await follow(id, async (event) => {
      if (!('type' in event) || event.type !== 'user.input.required') return;
      // The store records that the run is waiting shortly after its readers see it, and a killed server is down for
      // some time. A run without an answer would wait forever.
      for (let tries = 0; tries < 300; tries += 1) {
        const isPosted = await client()
          .replyToRun({ id, body: { text: 'Blue.' } })
          .then(
            () => true,
            () => false,
          );
        if (isPosted) return void acknowledged.replies.push(id);
        const run = await client()
          .getRun({ id })
          .catch(() => undefined);
        if (run?.state === 'ended') return;
        await pause(100);
      }
    });
  }

  async function order(index: number, turn: number): Promise<void> {
    const status = ['ok', 'silent', 'fail'][turn % 3] ?? 'ok';
    const repo_dir = join(folder, 'work', String(index));
    // Each issue gets three, and the last is escalated to the inbox.
    const request = { issue_ref: `acme/shop#${Math.floor((turn + 1) / 3)}`, role: 'qa', repo_dir, worker: 'scripted' };
    const submitted = await client().submitOrder({ body: { ...request, instructions: `0.05 ${status}` } });
    acknowledged.orders.push([submitted.issue_ref, submitted.run_id]);
    await pause(100);
  }

  async function decide(turn: number): Promise<void> {
    const { items } = await client().listInbox();
    const [item] = items;
    if (item === undefined) return;
    const action = turn % 2 === 0 ? 'reject' : 'retry';
    await client().resolveItem({ id: item.id, body: { action, why: 'I looked.', who: 'ada' } });
    acknowledged.decisions.push([item.id, action]);
  }

  const loops = [
    repeat(async (turn) => startTalker(0, turn)),
    repeat(async (turn) => startTalker(1, turn)),
    repeat(async () => ask(2)),
    repeat(async () => ask(3)),
    repeat(async (turn) => order(4, turn)),
    repeat(decide),
  ];
  return {
    acknowledged,
    async stop() {
      stopping.abort();
      await Promise.all(loops);
      return failures;
    },
  };
}

async function readAll(store: Store, runId: string, protocol: Protocol): Promise<object[]> {
  const events: Emitted[] = [];
  for (;;) {
    const last = events.at(-1);
    const after = last?.protocol === 'rasp' ? `${last.event.attempt_number}:${last.event.seq}` : last?.event.seq;
    const page = await store.read({ runId, protocol, limit: 1000, ...(after === undefined ? {} : { after }) });
    if (page.length === 0) return events.map(({ event }) => event);
    events.push(...page);
  }
}

describe('a server that is repeatedly killed', () => {
  it(
    'loses no acknowledged event, order, reply or decision, and its readers end up with the same events',
    { timeout: 180_000 + KILLS * 20_000 },
    async () => {
      const site = await makeServerSite();
      await site.start();
      const client = createClient({ url: site.url });
      const load = startLoad(() => client, site.folder);
      for (let kill = 0; kill < KILLS; kill += 1) {
        await pause(1000 + Math.random() * 2000);
        await site.kill();
        await site.start();
      }
      await waitUntilNone('commands', async () => countMissing(load.acknowledged));
      expect(await load.stop()).toEqual([]);

      const store = await openSite(`sqlite:${join(site.folder, 'data', 'sluice.db')}`);
      await waitUntilNone('runs and orders', async () => {
        const { runs, orders } = await store.countOpenWork();
        return runs.queued + runs.running + runs.waiting + orders.queued + orders.running;
      });
      const { acknowledged } = load;

      const orphanedCount = await checkRuns(store, acknowledged);
      for (const [issueRef, runId] of acknowledged.orders) {
        expect((await store.findOrder(issueRef, runId))?.state).toMatch(/^(?:settled|canceled)$/);
      }
      for (const [id, action] of acknowledged.decisions) {
        expect((await store.findItem(id))?.resolution).toMatchObject({ action, who: 'ada (unverified local user)' });
      }
      const events = [...acknowledged.events.values()].reduce((total, { length }) => total + length, 0);
      report(
        `${KILLS} kills: ${acknowledged.runs.length} runs, ${acknowledged.orders.length} orders, ${acknowledged.replies.length} replies and ${acknowledged.decisions.length} decisions acknowledged, none lost; ${acknowledged.events.size} readers got ${events} events, each once and in order; ${orphanedCount} runs ended with their worker and report it`,
      );
    },
  );
});

/** Counts the commands that must be acknowledged before the load ends: without them the test would prove nothing. */
function countMissing({ runs, orders, replies, decisions }: Acknowledged): number {
  const missing = [KILLS + 1 - runs.length, KILLS + 1 - orders.length, 1 - replies.length, 1 - decisions.length];
  return missing.reduce((total, count) => total + Math.max(0, count), 0);
}

/**
 * Checks that every run has ended and that its readers got the stored events. Returns the number of runs that lost
 * their worker.
 */
async function checkRuns(store: Store, acknowledged: Acknowledged): Promise<number> {
  let orphanedCount = 0;
  for (const id of acknowledged.runs) {
    const run = await store.findRun(id);
    expect(run?.state).toBe('ended');
    if (run?.result?.error?.code === 'WORKER_GONE') orphanedCount += 1;
    const log = { fcmp: await readAll(store, id, 'fcmp'), rasp: await readAll(store, id, 'rasp') };
    for (const protocol of ['fcmp', 'rasp'] as const)
      expect(acknowledged.events.get(`${protocol} ${id}`)).toEqual(log[protocol]);
    const replies = log.fcmp.filter((event) => 'type' in event && event.type === 'user.input.replied');
    expect(replies.length).toBeGreaterThanOrEqual(acknowledged.replies.filter((answered) => answered === id).length);
  }
  return orphanedCount;
}
