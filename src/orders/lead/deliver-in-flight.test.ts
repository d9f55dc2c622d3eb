import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { openStore } from '../../store/open-store.js';
import type { Sink } from '../sinks/sink.js';
import { deliverDue } from './deliver.js';
import type { DeliveryPorts } from './deliver.js';
import { queueMessage } from './fixtures/queue-message.js';
import { DEFAULT_BACKOFF } from './lead-context.js';

const TIMEOUT_MS = 100;
const START = 1_000_000;

/** A clock that advances only when all callers are waiting, to the earliest time any of them is waiting for. */
function createVirtualTime() {
  let now = START;
  const sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  return {
    now: () => now,
    sleep: async (ms: number) =>
      new Promise<void>((resolve) => {
        sleepers.push({ at: now + ms, wake: resolve });
      }),
    async runUntil(isDone: () => boolean): Promise<void> {
      for (let step = 0; step < 10_000 && !isDone(); step += 1) {
        // Everything that does not wait for the clock runs first.
        await new Promise(setImmediate);
        sleepers.sort((one, other) => one.at - other.at);
        const next = sleepers.shift();
        if (next === undefined) continue;
        now = Math.max(now, next.at);
        next.wake();
      }
    },
  };
}

/** Faults in the first worker's deliveries. */
interface Faults {
  /** The worker is paused directly after the claim. */
  readonly stallAfterClaim: number;
  /** How long a request takes to reach the sink; never longer than its timeout. */
  readonly arrivalMs: number;
  /** The response of the sink is lost. */
  readonly isResponseLost: boolean;
  /** The worker is paused before it records the delivery. */
  readonly stallBeforeCommit: number;
  /** The database rejects the delivery record. */
  readonly isCommitLost: boolean;
}

/** Delivers one message with two workers, where the first fails, and returns the keys that reached the sink. */
async function deliverWithFaults(faults: Faults, isSearchable: boolean): Promise<readonly string[]> {
  const time = createVirtualTime();
  const store = await openStore('memory:');
  const arrived: string[] = [];
  const createSink = ({ arrivalMs, isResponseLost }: Pick<Faults, 'arrivalMs' | 'isResponseLost'>): Sink => ({
    name: 'scripted',
    timeoutMs: TIMEOUT_MS,
    accepts: () => true,
    async send({ id }) {
      await time.sleep(arrivalMs);
      arrived.push(id);
      if (isResponseLost) throw new Error('no answer');
      return { deliveredTo: id };
    },
    ...(isSearchable
      ? { find: async ({ id }: { readonly id: string }) => (arrived.includes(id) ? { deliveredTo: id } : undefined) }
      : {}),
  });
  const createPorts = (workerId: string, sink: Sink, faulty: Partial<typeof store>): DeliveryPorts => ({
    store: { ...store, ...faulty },
    sinks: [sink],
    workerId,
    clock: time.now,
    random: () => 0,
    backoff: DEFAULT_BACKOFF,
    logger: silentLogger,
    concurrency: 1,
  });
  const first = createPorts('first', createSink(faults), {
    async claimOutbox(claim) {
      const claimed = await store.claimOutbox(claim);
      if (claimed.length > 0) await time.sleep(faults.stallAfterClaim);
      return claimed;
    },
    async markDelivered(done) {
      await time.sleep(faults.stallBeforeCommit);
      if (faults.isCommitLost) throw new Error('the database is unavailable');
      return store.markDelivered(done);
    },
  });
  const second = createPorts('second', createSink({ arrivalMs: 1, isResponseLost: false }), {});
  await queueMessage(store, { id: 'a', issueRef: 'local#1', sinks: ['scripted'], now: time.now() });

  let isDone = false;
  const work = async (): Promise<void> => {
    const progress = { delivered: 0, isFirstDone: false };
    const faulty = deliverDue(first)
      .then((report) => (progress.delivered += report.delivered))
      .catch(() => undefined)
      .finally(() => (progress.isFirstDone = true));
    // The other worker keeps polling until nothing is left to send: the message is delivered and the first has stopped.
    while (time.now() < START + 100 * TIMEOUT_MS && !(progress.isFirstDone && progress.delivered > 0)) {
      await time.sleep(7);
      progress.delivered += (await deliverDue(second)).delivered;
    }
    await faulty;
    isDone = true;
  };
  const done = work();
  await time.runUntil(() => isDone);
  await done;
  expect((await store.listOutbox({})).items).toMatchObject([{ state: 'delivered' }]);
  await store.close();
  return arrived;
}

const NO_FAULTS: Faults = {
  stallAfterClaim: 0,
  arrivalMs: 1,
  isResponseLost: false,
  stallBeforeCommit: 0,
  isCommitLost: false,
};

const anyFaults = fc.record({
  stallAfterClaim: fc.integer({ min: 0, max: 10 * TIMEOUT_MS }),
  arrivalMs: fc.integer({ min: 0, max: TIMEOUT_MS }),
  isResponseLost: fc.boolean(),
  stallBeforeCommit: fc.integer({ min: 0, max: 10 * TIMEOUT_MS }),
  isCommitLost: fc.boolean(),
});

describe('a delivery in flight when its lease expires', () => {
  it('reaches a searchable sink once, wherever its worker pauses and whatever is lost', async () => {
    await fc.assert(
      fc.asyncProperty(anyFaults, async (faults) => {
        expect(await deliverWithFaults(faults, true)).toHaveLength(1);
      }),
      { numRuns: 60 },
    );
  });

  it.each<[string, Partial<Faults>]>([
    ['the worker is paused before it records the delivery', { stallBeforeCommit: 7 * TIMEOUT_MS }],
    ['the database rejects the delivery record', { isCommitLost: true }],
    ["the sink's response is lost", { isResponseLost: true }],
  ])('reaches any other sink again, with the same key, if %s', async (_, faults) => {
    const arrived = await deliverWithFaults({ ...NO_FAULTS, ...faults }, false);
    expect(arrived).toEqual(['a-scripted', 'a-scripted']);
  });

  it('reaches any sink once if its worker was paused before sending', async () => {
    const faults = { ...NO_FAULTS, stallAfterClaim: 7 * TIMEOUT_MS };
    expect(await deliverWithFaults(faults, false)).toEqual(['a-scripted']);
  });
});
