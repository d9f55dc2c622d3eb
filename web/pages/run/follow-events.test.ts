import { expect, test } from 'vitest';
import { ClientError } from '../../../src/client/index.js';
import type { Client } from '../../../src/client/index.js';
import { fcmpEvent, raspEvent } from './events.fixture.js';
import { createFollower, processEvents } from './follow-events.js';
import type { RunEvent, StreamShare } from './share-stream.js';

const fcmp = (seq: number): RunEvent => fcmpEvent('raw.stdout', { text: 'x' }, { seq });
const rasp = (seq: number): RunEvent => raspEvent({ seq });

/** No other tab shows the run. */
const ALONE: StreamShare = {
  tryLead: async () => () => undefined,
  waitToLead: async () => null,
  publish: () => undefined,
  listen: () => () => undefined,
};

/** Serves scripted connections: where each begins and what it sends; one without an end stays open until it is stopped. */
function serve(
  connections: readonly { readonly seqs: readonly number[]; readonly then: 'end' | 'open' | 'lost' | 'refused' }[],
  {
    slots = [],
    pages = [],
    share = ALONE,
  }: { slots?: ('taken' | 'free')[]; pages?: readonly (readonly number[])[]; share?: StreamShare } = {},
) {
  const released: string[] = [];
  const asked: (string | undefined)[] = [];
  const answers = [...pages];
  const readHistory: Client['readHistory'] = async ({ query }) => {
    if (query?.protocol === 'rasp') return { events: [], next_from: null };
    asked.push(query?.from);
    return { events: (answers.shift() ?? []).map(fcmp), next_from: null };
  };
  const getRun = (async () => ({ state: answers.length <= 1 ? 'ended' : 'running' })) as unknown as Client['getRun'];
  const begun: (string | undefined)[] = [];
  const taken: string[] = [];
  const pauses: string[] = [];
  const left = [...connections];
  const followRun = async function* ({ after, signal, onConnection }: Parameters<Client['followRun']>[0]) {
    begun.push(after);
    const { seqs = [], then = 'end' } = left.shift() ?? {};
    onConnection?.('open');
    for (const seq of seqs) {
      yield fcmp(seq);
      yield rasp(seq);
    }
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
    onEvent: (event) => void taken.push('attempt_number' in event ? `r${event.seq}` : `f${event.seq}`),
    share,
    acquireSlot: async () => (slots.shift() === 'taken' ? null : () => void released.push('')),
    onGap: () => undefined,
    async pause(_, stop) {
      pauses.push(follower.state.value.state);
      if (share !== ALONE) {
        await new Promise((resolve) => {
          stop.addEventListener('abort', resolve);
        });
      }
    },
  });
  return { follower, begun, taken, pauses, released, asked };
}

test('reads events to the end of the run, and then stops', async () => {
  const { follower, begun, taken } = serve([{ seqs: [1, 2], then: 'end' }]);
  await follower.follow(new AbortController().signal);
  await follower.follow(new AbortController().signal);
  expect(follower.state.value).toEqual({ state: 'ended' });
  expect([taken, begun]).toEqual([['f1', 'r1', 'f2', 'r2'], [undefined]]);
});

test('continues after a pause without losing or repeating an event', async () => {
  const { follower, begun, taken } = serve([
    { seqs: [1, 2], then: 'open' },
    { seqs: [3], then: 'end' },
  ]);
  const control = new AbortController();
  const first = follower.follow(control.signal);
  await expect.poll(() => taken.length).toBe(4);
  expect(follower.state.value).toEqual({ state: 'live' });
  control.abort();
  follower.pause();
  await first;
  expect(follower.state.value).toEqual({ state: 'paused' });
  await follower.follow(new AbortController().signal);
  expect([taken, begun]).toEqual([
    ['f1', 'r1', 'f2', 'r2', 'f3', 'r3'],
    [undefined, '2,1:2'],
  ]);
});

test('ignores events of an abandoned connection', async () => {
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
    ['f1', 'r1', 'f2', 'r2'],
    [undefined, '1,1:1', '1,1:1', '1,1:1'],
  ]);
  expect(pauses).toEqual(['reconnecting', 'reconnecting', 'reconnecting']);
});

test('a refusal has a reason, and can be retried', async () => {
  const { follower, begun } = serve([
    { seqs: [1], then: 'refused' },
    { seqs: [2], then: 'end' },
  ]);
  await follower.follow(new AbortController().signal);
  expect(follower.state.value).toEqual({ state: 'lost', failure: { code: 'RUN_NOT_FOUND', message: 'gone' } });
  await follower.follow(new AbortController().signal);
  expect(follower.state.value).toEqual({ state: 'ended' });
  expect(begun).toEqual([undefined, '1,1:1']);
});

async function* count(to: number): AsyncGenerator<number> {
  for (let index = 0; index < to; index += 1) yield index;
}

test('accepts every event once and in order, to the end', async () => {
  const taken: number[] = [];
  const how = await processEvents(count(10), (event) => {
    taken.push(event);
    return 'more';
  });
  expect(how).toBe('ended');
  expect(taken).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('ends when there is enough, and closes the stream', async () => {
  let isClosed = false;
  async function* endless(): AsyncGenerator<number> {
    try {
      for (let index = 0; ; index += 1) yield index;
    } finally {
      isClosed = true;
    }
  }
  expect(await processEvents(endless(), (event) => (event === 5 ? 'enough' : 'more'))).toBe('enough');
  expect(isClosed).toBe(true);
});

test('lets other tasks run while many events arrive at the same time', async () => {
  let hadTurn = false;
  setTimeout(() => (hadTurn = true), 0);
  // No machine takes a million in one slice.
  expect(await processEvents(count(1_000_000), () => (hadTurn ? 'enough' : 'more'))).toBe('enough');
});
test('without a slot for a stream the history is read in short requests, to its end', async () => {
  const pages = [[1, 2], [3], [4]];
  const { follower, begun, taken, asked } = serve([], { slots: ['taken', 'taken', 'taken'], pages });
  await follower.follow(new AbortController().signal);
  expect(follower.state.value).toEqual({ state: 'ended' });
  expect([taken, begun, asked]).toEqual([['f1', 'f2', 'f3', 'f4'], [], [undefined, '3', '4']]);
});

test('acquires a stream slot that becomes free, and releases it at the end', async () => {
  const { follower, begun, taken, released } = serve([{ seqs: [3], then: 'end' }], {
    slots: ['taken', 'free'],
    pages: [[1, 2], []],
  });
  await follower.follow(new AbortController().signal);
  expect([taken, begun, released.length]).toEqual([['f1', 'f2', 'f3', 'r3'], ['2,0:0'], 1]);
});

/** Another tab has the stream: what it passes on, and when it leaves, is up to the test. */
function shareWithAnother() {
  const passing: { pass: (events: readonly RunEvent[]) => void } = { pass: () => undefined };
  const leaving: { leave: () => void } = { leave: () => undefined };
  const published: RunEvent[] = [];
  const share: StreamShare = {
    tryLead: async () => null,
    waitToLead: async (stop) =>
      new Promise((resolve) => {
        leaving.leave = () => resolve(() => undefined);
        stop.addEventListener('abort', () => resolve(null));
      }),
    publish: (event) => void published.push(event),
    listen(onEvents) {
      passing.pass = onEvents;
      return () => undefined;
    },
  };
  return { share, passing, leaving, published };
}

test('gets its events from the tab that has the stream, and takes over the stream when that tab is closed', async () => {
  const { share, passing, leaving } = shareWithAnother();
  const { follower, taken, begun } = serve([{ seqs: [5], then: 'end' }], { pages: [[1, 2], [], []], share });
  const following = follower.follow(new AbortController().signal);
  await expect.poll(() => taken).toEqual(['f1', 'f2']);
  passing.pass([fcmp(2), fcmp(3), rasp(1)]);
  passing.pass([fcmp(4), rasp(2)]);
  await expect.poll(() => taken).toEqual(['f1', 'f2', 'f3', 'r1', 'f4', 'r2']);
  expect(begun).toEqual([]);
  leaving.leave();
  await following;
  expect(begun).toEqual(['4,1:2']);
  expect(follower.state.value).toEqual({ state: 'ended' });
});

test('reads events from the server that the tab with the stream did not send', async () => {
  const { share, passing } = shareWithAnother();
  const { follower, taken, asked } = serve([], { pages: [[1], [2, 3, 4], [], []], share });
  const control = new AbortController();
  const following = follower.follow(control.signal);
  await expect.poll(() => taken).toEqual(['f1']);
  passing.pass([fcmp(3), fcmp(4)]);
  await expect.poll(() => taken).toEqual(['f1', 'f2', 'f3', 'f4']);
  expect(asked).toEqual([undefined, '2']);
  control.abort();
  await following;
});
