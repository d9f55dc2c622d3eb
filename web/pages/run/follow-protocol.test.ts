import { expect, test } from 'vitest';
import { ClientError } from '../../../src/client/index.js';
import type { Client } from '../../../src/client/index.js';
import type { FcmpEvent } from '../../../src/events/index.js';
import { fcmpEvent } from './events.fixture.js';
import { createFollower, joinStates, measureWeight, takeEvents } from './follow-protocol.js';

/** Where each connection begins and what comes on it; one that has no end stays open until it is stopped. */
function serve(
  connections: readonly { readonly seqs: readonly number[]; readonly then: 'end' | 'open' | 'lost' | 'refused' }[],
  { slots = [], pages = [] }: { slots?: ('taken' | 'free')[]; pages?: readonly (readonly number[])[] } = {},
) {
  const released: string[] = [];
  const asked: (string | undefined)[] = [];
  const answers = [...pages];
  const readHistory: Client['readHistory'] = async ({ query }) => {
    asked.push(query?.from);
    const seqs = answers.shift() ?? [];
    return { events: seqs.map((seq) => fcmpEvent('raw.stdout', { text: 'x' }, { seq })), next_from: null };
  };
  const getRun = (async () => ({ state: answers.length <= 1 ? 'ended' : 'running' })) as unknown as Client['getRun'];
  const begun: (string | undefined)[] = [];
  const taken: number[] = [];
  const pauses: string[] = [];
  const left = [...connections];
  const followRun = async function* ({ after, signal, onConnection }: Parameters<Client['followRun']>[0]) {
    begun.push(after);
    const { seqs = [], then = 'end' } = left.shift() ?? {};
    onConnection?.('open');
    for (const seq of seqs) yield fcmpEvent('raw.stdout', { text: 'x' }, { seq });
    if (then === 'lost') throw new ClientError('STREAM_LOST', 'gone');
    if (then === 'refused') throw new ClientError('RUN_NOT_FOUND', 'gone');
    if (then === 'open') {
      await new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('stopped')));
      });
    }
  } as Client['followRun'];
  const follower = createFollower({
    client: { followRun, readHistory, getRun },
    id: 'run',
    protocol: 'fcmp',
    take: ({ seq }) => void taken.push(seq),
    getPosition: ({ seq }: FcmpEvent) => String(seq),
    getNext: ({ seq }: FcmpEvent) => String(seq + 1),
    takeSlot: async () => (slots.shift() === 'taken' ? null : () => void released.push('')),
    onGap: () => undefined,
    async pause() {
      pauses.push(follower.state.value.state);
    },
  });
  return { follower, begun, taken, pauses, released, asked };
}

test('takes events to the end of the run, and then asks no more', async () => {
  const { follower, begun, taken } = serve([{ seqs: [1, 2], then: 'end' }]);
  await follower.follow(new AbortController().signal);
  await follower.follow(new AbortController().signal);
  expect(follower.state.value).toEqual({ state: 'ended' });
  expect([taken, begun]).toEqual([[1, 2], [undefined]]);
});

test('continues after a pause without losing or repeating an event', async () => {
  const { follower, begun, taken } = serve([
    { seqs: [1, 2], then: 'open' },
    { seqs: [3], then: 'end' },
  ]);
  const control = new AbortController();
  const first = follower.follow(control.signal);
  await expect.poll(() => taken.length).toBe(2);
  expect(follower.state.value).toEqual({ state: 'live' });
  control.abort();
  follower.pause();
  await first;
  expect(follower.state.value).toEqual({ state: 'paused' });
  await follower.follow(new AbortController().signal);
  expect([taken, begun]).toEqual([
    [1, 2, 3],
    [undefined, '2'],
  ]);
});

test('what comes on a connection that was given up is not taken', async () => {
  const { follower, taken } = serve([{ seqs: [1, 2, 3], then: 'end' }]);
  const control = new AbortController();
  control.abort();
  await follower.follow(control.signal);
  expect(taken).toEqual([]);
  expect(follower.isOver()).toBe(false);
});

test('reconnects for as long as it is not stopped', async () => {
  const { follower, begun, taken, pauses } = serve([
    { seqs: [1], then: 'lost' },
    { seqs: [], then: 'lost' },
    { seqs: [], then: 'lost' },
    { seqs: [2], then: 'end' },
  ]);
  await follower.follow(new AbortController().signal);
  expect(follower.state.value).toEqual({ state: 'ended' });
  expect([taken, begun]).toEqual([
    [1, 2],
    [undefined, '1', '1', '1'],
  ]);
  expect(pauses).toEqual(['reconnecting', 'reconnecting', 'reconnecting']);
});

test('a refusal says why, and can be tried again', async () => {
  const { follower, begun } = serve([
    { seqs: [1], then: 'refused' },
    { seqs: [2], then: 'end' },
  ]);
  await follower.follow(new AbortController().signal);
  expect(follower.state.value).toEqual({ state: 'lost', failure: { code: 'RUN_NOT_FOUND', message: 'gone' } });
  await follower.follow(new AbortController().signal);
  expect(follower.state.value).toEqual({ state: 'ended' });
  expect(begun).toEqual([undefined, '1']);
});

const weigh = (data: object): number => measureWeight({ data }) - measureWeight({ data: {} });

test('an event weighs what it says', () => {
  expect(weigh({ text: 'x'.repeat(1000) })).toBe(1000);
  expect(weigh({ input: { command: 'x'.repeat(500) } })).toBe(508);
});

test('tool output counts at any depth', () => {
  expect(weigh({ output: { content: [{ type: 'text', text: 'x'.repeat(1000) }] } })).toBeGreaterThanOrEqual(1000);
  let deep: unknown = 'x'.repeat(1000);
  for (let depth = 0; depth < 10_000; depth += 1) deep = [deep];
  expect(weigh({ output: deep })).toBeGreaterThanOrEqual(1000);
  expect(weigh({ output: Array.from({ length: 1000 }, () => []) })).toBeGreaterThanOrEqual(1000);
});

async function* count(to: number): AsyncGenerator<number> {
  for (let index = 0; index < to; index += 1) yield index;
}

test('takes every event once and in order, to the end', async () => {
  const taken: number[] = [];
  const how = await takeEvents(count(10), (event) => {
    taken.push(event);
    return 'more';
  });
  expect(how).toBe('ended');
  expect(taken).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('ends when there is enough, and lets the stream go', async () => {
  let isClosed = false;
  async function* endless(): AsyncGenerator<number> {
    try {
      for (let index = 0; ; index += 1) yield index;
    } finally {
      isClosed = true;
    }
  }
  expect(await takeEvents(endless(), (event) => (event === 5 ? 'enough' : 'more'))).toBe('enough');
  expect(isClosed).toBe(true);
});

test('lets others have a turn while many events are there at once', async () => {
  let hadTurn = false;
  setTimeout(() => (hadTurn = true), 0);
  // No machine takes a million in one slice.
  expect(await takeEvents(count(1_000_000), () => (hadTurn ? 'enough' : 'more'))).toBe('enough');
});
test('the worst of the streams is what counts', () => {
  expect(joinStates([{ state: 'live' }, { state: 'reconnecting' }])).toEqual({ state: 'reconnecting' });
  expect(joinStates([{ state: 'ended' }, { state: 'live' }])).toEqual({ state: 'live' });
  expect(joinStates([{ state: 'ended' }, { state: 'ended' }])).toEqual({ state: 'ended' });
  expect(joinStates([])).toEqual({ state: 'opening' });
});

test('without a place for a stream the history is read in short requests, to its end', async () => {
  const pages = [[1, 2], [3], [4]];
  const { follower, begun, taken, asked } = serve([], { slots: ['taken', 'taken', 'taken'], pages });
  await follower.follow(new AbortController().signal);
  expect(follower.state.value).toEqual({ state: 'ended' });
  expect([taken, begun, asked]).toEqual([[1, 2, 3, 4], [], [undefined, '3', '4']]);
});

test('a place that becomes free is taken, and given back at the end', async () => {
  const { follower, begun, taken, released } = serve([{ seqs: [3], then: 'end' }], {
    slots: ['taken', 'free'],
    pages: [[1, 2], []],
  });
  await follower.follow(new AbortController().signal);
  expect([taken, begun, released.length]).toEqual([[1, 2, 3], ['2'], 1]);
});
