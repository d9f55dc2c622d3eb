import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/index.js';
import type { QueueWork } from '../../store/index.js';
import type { ClaimedRun } from '../../store/ports/index.js';
import { createClaimQueue } from './worker.js';

/** A queue of runs, of which every claim takes the first, and the calls that were made. */
function openQueue() {
  const runs: string[] = [];
  const claims: { readonly worker: string; readonly isLast: boolean }[] = [];
  const released: string[] = [];
  const wakers = new Set<(work?: QueueWork) => void>();
  let beforeAnswer: () => void = () => undefined;
  const queue = createClaimQueue<string>({
    logger: silentLogger,
    store: {
      watchQueue(wake) {
        wakers.add(wake);
        return () => void wakers.delete(wake);
      },
    },
    async claimNext(worker, { isLast }) {
      claims.push({ worker, isLast });
      const id = runs.shift();
      const work = beforeAnswer;
      beforeAnswer = () => undefined;
      work();
      return id === undefined ? undefined : ({ record: { id } } as ClaimedRun);
    },
    release: async ({ record }) => void released.push(record.id),
  });
  const assigned: string[] = [];
  const connect = (worker: string, wanted = {}) =>
    queue.connect(worker, wanted, ({ record }) => assigned.push(`${worker} ${record.id}`) > 0);
  const add = (...ids: readonly string[]) => {
    runs.push(...ids);
    for (const wake of wakers) wake('runs');
  };
  const atNextAnswer = (work: () => void) => {
    beforeAnswer = work;
  };
  return { queue, claims, released, assigned, wakers, connect, add, atNextAnswer };
}

describe('waiting workers', () => {
  it('get one run each, the longest waiting first, and a run costs one claim and one that finds nothing', async () => {
    const { queue, claims, assigned, wakers, connect, add } = openQueue();
    for (const worker of ['a', 'b', 'c']) {
      connect(worker);
      expect(await queue.claim(worker, worker)).toEqual({ isWaiting: true });
    }
    expect(wakers.size).toBe(1);
    claims.length = 0;
    add('run-1');
    await expect.poll(() => assigned).toEqual(['a run-1']);
    await expect.poll(() => claims.map(({ worker }) => worker)).toEqual(['a', 'b']);
    add('run-2', 'run-3', 'run-4');
    await expect.poll(() => assigned).toEqual(['a run-1', 'c run-2', 'b run-3']);
    expect(claims.at(-1)).toEqual({ worker: 'b', isLast: true });
    expect(await queue.claim('a', 'a')).toMatchObject({ claimed: { record: { id: 'run-4' } }, isWaiting: false });
  });

  it('miss no run that arrives while their claim looks for one', async () => {
    const { queue, assigned, connect, add, atNextAnswer } = openQueue();
    connect('a');
    atNextAnswer(() => add('run-1'));
    expect(await queue.claim('a', 'a')).toEqual({ isWaiting: true });
    await expect.poll(() => assigned).toEqual(['a run-1']);
  });

  it('are looked after if one starts to wait while the last of the others claims', async () => {
    const { queue, claims, connect, add, atNextAnswer } = openQueue();
    for (const worker of ['a', 'b']) connect(worker);
    add('run-1');
    // The store has marked the workers as busy for "a", after "b" found nothing.
    atNextAnswer(() => void queue.claim('b', 'b'));
    expect(await queue.claim('a', 'a')).toMatchObject({ isWaiting: false });
    await expect.poll(() => claims.map(({ worker }) => worker)).toEqual(['a', 'b', 'b']);
  });

  it('are asked by the runs they take, and only until they disconnect', async () => {
    const { queue, claims, assigned, released, wakers, connect, add, atNextAnswer } = openQueue();
    const close = connect('a', { kinds: ['orders'] });
    connect('b', { kinds: ['runs'] })();
    expect(wakers.size).toBe(1);
    await queue.claim('a', 'a');
    // It disconnects while a run is claimed for it: the run goes back.
    atNextAnswer(close);
    add('run-1');
    await expect.poll(() => released).toEqual(['run-1']);
    expect(wakers.size).toBe(0);
    expect(await queue.claim('a', 'a')).toEqual({ isWaiting: false });
    expect(assigned).toEqual([]);
    expect(claims).toHaveLength(3);
  });

  it('keep a stream that replaces another', async () => {
    const { queue, assigned, connect, add } = openQueue();
    const first = connect('a');
    await queue.claim('a', 'a');
    connect('a');
    first();
    add('run-1');
    await expect.poll(() => assigned).toEqual(['a run-1']);
  });
});
