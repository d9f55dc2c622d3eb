import { expect, test } from 'vitest';
import { ClientError } from '../../../src/server/client/index.js';
import type { Client } from '../../../src/server/client/index.js';
import { fcmpEvent, raspEvent } from './fixtures/events.js';
import { createFollower, processEvents } from './follow-events.js';
import type { RunEvent, StreamShare } from './share-stream.js';

const fcmp = (seq: number): RunEvent => fcmpEvent('raw.stdout', { text: 'x' }, { seq });
const rasp = (seq: number): RunEvent => raspEvent({ seq });

/** No other tab shows the run. */
const NO_OTHER_TAB: StreamShare = {
  tryLead: async () => () => undefined,
  waitToLead: async () => null,
  publish: () => undefined,
  listen: () => () => undefined,
};

/** Creates a follower whose connections send these events. A connection with `then: 'open'` stays open until it is stopped. */
function serve(
  connections: readonly { readonly seqs: readonly number[]; readonly then: 'end' | 'open' | 'lost' | 'refused' }[],
  {
    slots = [],
    pages = [],
    share = NO_OTHER_TAB,
  }: { slots?: ('taken' | 'free')[]; pages?: readonly (readonly number[])[]; share?: StreamShare } = {},
) {
  const released: string[] = [];
  const requestedFrom: (string | undefined)[] = [];
  const answers = [...pages];
  const readHistory: Client['readHistory'] = async ({ query }) => {
    if (query?.protocol === 'rasp') return { events: [], next_from: null };
    requestedFrom.push(query?.from);
    return { events: (answers.shift() ?? []).map(fcmp), next_from: null };
  };
  const getRun = (async () => ({ state: answers.length <= 1 ? 'ended' : 'running' })) as unknown as Client['getRun'];
  const resumedAfter: (string | undefined)[] = [];
  const received: string[] = [];
  const pauses: string[] = [];
  const remaining = [...connections];
  const followRun = async function* ({ after, signal, onConnection }: Parameters<Client['followRun']>[0]) {
    resumedAfter.push(after);
    const { seqs = [], then = 'end' } = remaining.shift() ?? {};
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
    onEvent: (event) => void received.push('attempt_number' in event ? `r${event.seq}` : `f${event.seq}`),
    share,
    acquireSlot: async () => (slots.shift() === 'taken' ? null : () => void released.push('')),
    onGap: () => undefined,
    async pause(_, stop) {
      pauses.push(follower.state.value.state);
      if (share !== NO_OTHER_TAB) {
        await new Promise((resolve) => {
          stop.addEventListener('abort', resolve);
        });
      }
    },
  });
  return { follower, resumedAfter, received, pauses, released, requestedFrom };
}

test('reads events to the end of the run, and then stops', async () => {
  const { follower, resumedAfter, received } = serve([{ seqs: [1, 2], then: 'end' }]);
  await follower.follow(new AbortController().signal);
  await follower.follow(new AbortController().signal);
  expect(follower.state.value).toEqual({ state: 'ended' });
  expect([received, resumedAfter]).toEqual([['f1', 'r1', 'f2', 'r2'], [undefined]]);
});

test('continues after the position that it has skipped to', async () => {
  const { follower, resumedAfter, received } = serve([{ seqs: [900, 901], then: 'end' }]);
  follower.skip({ fcmp: 900, rasp: { attempt: 1, seq: 900 } });
  await follower.follow(new AbortController().signal);
  expect([received, resumedAfter]).toEqual([['f901', 'r901'], ['900,1:900']]);
});

test('continues after a pause without losing or repeating an event', async () => {
  const { follower, resumedAfter, received } = serve([
    { seqs: [1, 2], then: 'open' },
    { seqs: [3], then: 'end' },
  ]);
  const control = new AbortController();
  const first = follower.follow(control.signal);
  await expect.poll(() => received.length).toBe(4);
  expect(follower.state.value).toEqual({ state: 'live' });
  control.abort();
  follower.pause();
  await first;
  expect(follower.state.value).toEqual({ state: 'paused' });
  await follower.follow(new AbortController().signal);
  expect([received, resumedAfter]).toEqual([
    ['f1', 'r1', 'f2', 'r2', 'f3', 'r3'],
    [undefined, '2,1:2'],
  ]);
});

test('ignores events of an abandoned connection', async () => {
  const { follower, received } = serve([{ seqs: [1, 2, 3], then: 'end' }]);
  const control = new AbortController();
  control.abort();
  await follower.follow(control.signal);
  expect(received).toEqual([]);
  expect(follower.isOver()).toBe(false);
});

test('reconnects for as long as it is not stopped', async () => {
  const { follower, resumedAfter, received, pauses } = serve([
    { seqs: [1], then: 'lost' },
    { seqs: [], then: 'lost' },
    { seqs: [], then: 'lost' },
    { seqs: [2], then: 'end' },
  ]);
  await follower.follow(new AbortController().signal);
  expect(follower.state.value).toEqual({ state: 'ended' });
  expect([received, resumedAfter]).toEqual([
    ['f1', 'r1', 'f2', 'r2'],
    [undefined, '1,1:1', '1,1:1', '1,1:1'],
  ]);
  expect(pauses).toEqual(['reconnecting', 'reconnecting', 'reconnecting']);
});

test('reports the reason for a refusal, and can be retried', async () => {
  const { follower, resumedAfter } = serve([
    { seqs: [1], then: 'refused' },
    { seqs: [2], then: 'end' },
  ]);
  await follower.follow(new AbortController().signal);
  expect(follower.state.value).toEqual({ state: 'lost', failure: { code: 'RUN_NOT_FOUND', message: 'gone' } });
  await follower.follow(new AbortController().signal);
  expect(follower.state.value).toEqual({ state: 'ended' });
  expect(resumedAfter).toEqual([undefined, '1,1:1']);
});

async function* count(to: number): AsyncGenerator<number> {
  for (let index = 0; index < to; index += 1) yield index;
}

test('accepts every event once and in order, to the end', async () => {
  const received: number[] = [];
  const outcome = await processEvents(count(10), (event) => {
    received.push(event);
    return 'more';
  });
  expect(outcome).toBe('ended');
  expect(received).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('stops and closes the stream when the callback returns "enough"', async () => {
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

test('yields to other tasks while many events arrive together', async () => {
  let hadTurn = false;
  setTimeout(() => (hadTurn = true), 0);
  // No computer processes a million events in one slice.
  expect(await processEvents(count(1_000_000), () => (hadTurn ? 'enough' : 'more'))).toBe('enough');
});

test('reads the history in short requests if there is no slot for a stream', async () => {
  const pages = [[1, 2], [3], [4]];
  const { follower, resumedAfter, received, requestedFrom } = serve([], { slots: ['taken', 'taken', 'taken'], pages });
  await follower.follow(new AbortController().signal);
  expect(follower.state.value).toEqual({ state: 'ended' });
  expect([received, resumedAfter, requestedFrom]).toEqual([['f1', 'f2', 'f3', 'f4'], [], [undefined, '3', '4']]);
});

test('acquires a stream slot that becomes free, and releases it at the end', async () => {
  const { follower, resumedAfter, received, released } = serve([{ seqs: [3], then: 'end' }], {
    slots: ['taken', 'free'],
    pages: [[1, 2], []],
  });
  await follower.follow(new AbortController().signal);
  expect([received, resumedAfter, released.length]).toEqual([['f1', 'f2', 'f3', 'r3'], ['2,0:0'], 1]);
});

/** Simulates another tab that has the stream. The test controls which events it passes on and when it is closed. */
function simulateOtherTab() {
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
  const { share, passing, leaving } = simulateOtherTab();
  const { follower, received, resumedAfter } = serve([{ seqs: [5], then: 'end' }], { pages: [[1, 2], [], []], share });
  const following = follower.follow(new AbortController().signal);
  await expect.poll(() => received).toEqual(['f1', 'f2']);
  passing.pass([fcmp(2), fcmp(3), rasp(1)]);
  passing.pass([fcmp(4), rasp(2)]);
  await expect.poll(() => received).toEqual(['f1', 'f2', 'f3', 'r1', 'f4', 'r2']);
  expect(resumedAfter).toEqual([]);
  leaving.leave();
  await following;
  expect(resumedAfter).toEqual(['4,1:2']);
  expect(follower.state.value).toEqual({ state: 'ended' });
});

test('reads events from the server that the tab with the stream did not send', async () => {
  const { share, passing } = simulateOtherTab();
  const { follower, received, requestedFrom } = serve([], { pages: [[1], [2, 3, 4], [], []], share });
  const control = new AbortController();
  const following = follower.follow(control.signal);
  await expect.poll(() => received).toEqual(['f1']);
  passing.pass([fcmp(3), fcmp(4)]);
  await expect.poll(() => received).toEqual(['f1', 'f2', 'f3', 'f4']);
  expect(requestedFrom).toEqual([undefined, '2']);
  control.abort();
  await following;
});
