import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { openStore } from '../../store/open-store.js';
import type { NewOutboxMessage } from '../../store/records/order-record.js';
import { SinkError } from '../sinks/sink.js';
import type { Sink } from '../sinks/sink.js';
import { chooseDelay, deliverDue, type DeliveryPorts } from './deliver.js';
import { DEFAULT_BACKOFF } from './lead-context.js';
import { queueMessage } from './fixtures/queue-message.js';

/** Creates a searchable in-memory sink that handles the next messages as the test specifies. */
function createScriptedSink(name = 'scripted') {
  const arrived: string[] = [];
  const script: ((message: NewOutboxMessage) => void)[] = [];
  const lookups: string[] = [];
  const sink: Sink = {
    name,
    timeoutMs: 100,
    accepts: () => true,
    async find({ id }) {
      lookups.push(id);
      return arrived.includes(id) ? { deliveredTo: `found:${id}` } : undefined;
    },
    async send(message) {
      const next = script.shift();
      next?.(message);
      arrived.push(message.id);
      return { deliveredTo: `sent:${message.id}` };
    },
  };
  return { sink, arrived, script, lookups };
}

async function setUp(sinks: readonly Sink[]) {
  const store = await openStore('memory:');
  let now = 1_000_000;
  const ports: DeliveryPorts = {
    store,
    sinks,
    workerId: 'worker-1',
    clock: () => now,
    random: () => 0.5,
    backoff: { ...DEFAULT_BACKOFF, maxTries: 3 },
    logger: silentLogger,
    concurrency: 4,
  };
  const pass = (ms: number) => {
    now += ms;
  };
  const queue = async (id: string, issueRef = `local#${id}`) =>
    queueMessage(store, { id, issueRef, sinks: sinks.map(({ name }) => name), now });
  const findMessage = async (id: string) => (await store.listOutbox({})).items.find((message) => message.id === id);
  return { store, ports, pass, queue, findMessage };
}

const refuse = (isPermanent: boolean, retryAfterMs?: number) => () => {
  throw new SinkError('SINK_REFUSED', 'no', { isPermanent, retryAfterMs });
};

describe('deliverDue', () => {
  it('sends due messages once, and records where they went', async () => {
    const { sink, arrived, lookups } = createScriptedSink();
    const { ports, queue, findMessage } = await setUp([sink]);
    await queue('a');
    await queue('b');
    expect(await deliverDue(ports)).toEqual({ delivered: 2, postponed: 0, dead: 0, lost: 0 });
    expect(await deliverDue(ports)).toEqual({ delivered: 0, postponed: 0, dead: 0, lost: 0 });
    expect(arrived).toEqual(['a-scripted', 'b-scripted']);
    expect(lookups).toEqual([]);
    expect(await findMessage('a-scripted')).toMatchObject({ state: 'delivered', delivered_to: 'sent:a-scripted' });
  });

  it('sends to every sink separately: a failing sink does not delay the others', async () => {
    const workingSink = createScriptedSink('good');
    const failingSink = createScriptedSink('bad');
    const { ports, queue } = await setUp([failingSink.sink, workingSink.sink]);
    failingSink.script.push(refuse(false));
    await queue('a');
    expect(await deliverDue(ports)).toMatchObject({ delivered: 1, postponed: 1 });
    expect(workingSink.arrived).toEqual(['a-good']);
  });

  it('looks up the message before it retries', async () => {
    const { sink, arrived, script, lookups } = createScriptedSink();
    const { ports, queue, pass, findMessage } = await setUp([sink]);
    script.push(refuse(false));
    await queue('a');
    const { retryAt } = await deliverDue(ports);
    const waiting = await findMessage('a-scripted');
    expect(waiting).toMatchObject({ state: 'waiting', tries: 1, last_error: 'no' });
    expect(retryAt).toBe(waiting?.due_at);
    expect(await deliverDue(ports)).toMatchObject({ delivered: 0 });
    pass(60_000);
    expect(await deliverDue(ports)).toMatchObject({ delivered: 1 });
    expect(lookups).toEqual(['a-scripted']);
    expect(arrived).toEqual(['a-scripted']);
  });

  it('does not resend a message that arrived although the response was lost', async () => {
    const { sink, arrived, script } = createScriptedSink();
    const { ports, queue, pass, findMessage } = await setUp([sink]);
    script.push((message) => {
      arrived.push(message.id);
      throw new SinkError('SINK_TIMED_OUT', 'no answer');
    });
    await queue('a');
    await deliverDue(ports);
    pass(60_000);
    await deliverDue(ports);
    expect(arrived).toEqual(['a-scripted']);
    expect(await findMessage('a-scripted')).toMatchObject({ state: 'delivered', delivered_to: 'found:a-scripted' });
  });

  it('looks up a message that a lead had claimed before it died', async () => {
    const { sink, arrived } = createScriptedSink();
    const { store, ports, queue, pass } = await setUp([sink]);
    await queue('a');
    await store.claimOutbox({ workerId: 'dead-worker', leaseMs: 600, now: ports.clock(), limit: 1 });
    arrived.push('a-scripted');
    expect(await deliverDue(ports)).toMatchObject({ delivered: 0 });
    pass(601);
    expect(await deliverDue(ports)).toMatchObject({ delivered: 1 });
    expect(arrived).toEqual(['a-scripted']);
  });

  it('does not send if it stalled until its lease had nearly expired', async () => {
    const { sink, arrived } = createScriptedSink();
    const { ports, queue, pass, store, findMessage } = await setUp([sink]);
    await queue('a');
    const stallingPorts: DeliveryPorts = {
      ...ports,
      store: {
        ...store,
        async claimOutbox(claim) {
          const claimed = await store.claimOutbox(claim);
          if (claimed.length > 0) pass(claim.leaseMs - 1);
          return claimed;
        },
      },
    };
    expect(await deliverDue(stallingPorts)).toMatchObject({ delivered: 0, lost: 1 });
    expect(arrived).toEqual([]);
    pass(1);
    expect(await deliverDue(ports)).toMatchObject({ delivered: 1 });
    expect(await findMessage('a-scripted')).toMatchObject({ state: 'delivered', tries: 2 });
  });

  it('does not send if it cannot look up the message first', async () => {
    const { sink, arrived, script } = createScriptedSink();
    const unsearchableSink: Sink = {
      ...sink,
      find: async () => {
        throw new SinkError('SINK_UNREACHABLE', 'no');
      },
    };
    const { ports, queue, pass } = await setUp([unsearchableSink]);
    script.push(refuse(false));
    await queue('a');
    await deliverDue(ports);
    pass(60_000);
    expect(await deliverDue(ports)).toMatchObject({ postponed: 1 });
    expect(arrived).toEqual([]);
  });

  it('waits as long as the sink requests, and at least as long as a lost request can take', async () => {
    const { sink, script } = createScriptedSink();
    const { ports, queue, findMessage } = await setUp([sink]);
    script.push(refuse(false, 600_000), refuse(false));
    await queue('a');
    await queue('b');
    await deliverDue(ports);
    expect((await findMessage('a-scripted'))?.due_at).toBe(1_000_000 + 600_000);
    expect((await findMessage('b-scripted'))?.due_at).toBe(1_000_000 + 100 + 1000);
  });

  it('fails after the last attempt; the issue does not change, and the comment can be redelivered', async () => {
    const { sink, script, lookups } = createScriptedSink();
    const { store, ports, queue, pass, findMessage } = await setUp([sink]);
    script.push(refuse(false), refuse(false), refuse(false));
    await queue('a');
    const state = (await store.findIssue('local#a'))?.state;
    const reports = [];
    for (let round = 0; round < 5; round++) {
      reports.push(await deliverDue(ports));
      pass(3_600_000);
    }
    expect(reports.map(({ postponed, dead }) => [postponed, dead])).toEqual([
      [1, 0],
      [1, 0],
      [0, 1],
      [0, 0],
      [0, 0],
    ]);
    const last_error = 'no Failed after 3 tries. Fix the cause, then redeliver the comment.';
    expect(await findMessage('a-scripted')).toMatchObject({ state: 'dead', tries: 3, last_error });
    expect((await store.findIssue('local#a'))?.state).toBe(state);
    expect((await store.listInbox({})).items).toEqual([]);
    expect(await store.redeliver({ sink: 'scripted' }, ports.clock())).toBe(1);
    expect(await deliverDue(ports)).toMatchObject({ delivered: 1 });
    expect(lookups.at(-1)).toBe('a-scripted');
  });

  it('retries for days by default', () => {
    let hours = 0;
    for (let tries = 1; tries < DEFAULT_BACKOFF.maxTries; tries += 1) {
      hours += chooseDelay({ random: () => 0.5, backoff: DEFAULT_BACKOFF }, { tries, minMs: 0 }) / 3_600_000;
    }
    expect(hours).toBeGreaterThan(48);
    expect(hours).toBeLessThan(7 * 24);
  });

  it('fails immediately if a retry cannot help', async () => {
    const { sink, script } = createScriptedSink();
    const { ports, queue, findMessage } = await setUp([sink]);
    script.push(refuse(true));
    await queue('a');
    expect(await deliverDue(ports)).toMatchObject({ dead: 1 });
    expect((await findMessage('a-scripted'))?.last_error).toContain('Failed after 1 try.');
  });

  it("delivers an issue's comments in order: each waits for the previous one", async () => {
    const { sink, arrived, script } = createScriptedSink();
    const { ports, queue, pass } = await setUp([sink]);
    script.push(refuse(false));
    await queue('first', 'local#1');
    await queue('second', 'local#1');
    await deliverDue(ports);
    expect(arrived).toEqual([]);
    pass(60_000);
    await deliverDue(ports);
    expect(arrived).toEqual(['first-scripted', 'second-scripted']);
  });

  it('does not touch a message that another lead has taken over', async () => {
    const { sink, arrived, script } = createScriptedSink();
    const { store, ports, queue, pass, findMessage } = await setUp([sink]);
    script.push(() => {
      pass(10_000);
    });
    await queue('a');
    const slow = deliverDue(ports);
    const other = await store.claimOutbox({ workerId: 'other', leaseMs: 600, now: ports.clock() + 20_000, limit: 1 });
    expect(other).toHaveLength(1);
    expect(await slow).toMatchObject({ lost: 1 });
    expect(await findMessage('a-scripted')).toMatchObject({ state: 'sending', tries: 2 });
    expect(arrived).toEqual(['a-scripted']);
  });

  it('claims nothing more when it is aborted', async () => {
    const { sink, arrived } = createScriptedSink();
    const { ports, queue } = await setUp([sink]);
    await queue('a');
    expect(await deliverDue({ ...ports, signal: AbortSignal.abort() })).toMatchObject({ delivered: 0 });
    expect(arrived).toEqual([]);
  });

  it('leaves messages for unconfigured sinks to workers that have those sinks', async () => {
    const { sink } = createScriptedSink('mine');
    const { store, ports } = await setUp([sink]);
    await queueMessage(store, { id: 'a', issueRef: 'local#a', sinks: ['theirs'], now: ports.clock() });
    expect(await deliverDue(ports)).toMatchObject({ delivered: 0 });
    expect((await store.listOutbox({ state: 'waiting' })).items).toHaveLength(1);
  });
});

describe('choosePause', () => {
  it('grows with every attempt, is never zero and never exceeds the maximum', () => {
    const numbers = { tries: fc.integer({ min: 1, max: 1000 }), chance: fc.double({ min: 0, max: 1, noNaN: true }) };
    fc.assert(
      fc.property(fc.record(numbers), ({ tries, chance }) => {
        const pause = chooseDelay({ random: () => chance, backoff: DEFAULT_BACKOFF }, { tries, minMs: 50 });
        expect(pause).toBeGreaterThanOrEqual(50);
        expect(pause).toBeLessThanOrEqual(50 + DEFAULT_BACKOFF.maxMs);
      }),
    );
    const pauses = [1, 2, 3, 20].map((tries) =>
      chooseDelay({ random: () => 1, backoff: DEFAULT_BACKOFF }, { tries, minMs: 0 }),
    );
    expect(pauses).toEqual([2000, 4000, 8000, 3_600_000]);
  });
});
