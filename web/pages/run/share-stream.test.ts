import { expect, onTestFinished, test, vi } from 'vitest';
import { fcmpEvent } from './fixtures/events.js';
import { createStreamShare } from './share-stream.js';
import type { Message, RunEvent, Tabs } from './share-stream.js';

const event = (seq: number, text = 'x'): RunEvent => fcmpEvent('raw.stdout', { text }, { seq });

/** Simulates the tabs of a browser, with a queue for each lock and channels that reach all tabs except the sender. */
function createTabs(): Tabs {
  const queues = new Map<string, Promise<void>>();
  const heldLocks = new Set<string>();
  const channels = new Map<string, Set<(message: Message) => void>>();
  const request = async (
    name: string,
    { ifAvailable, signal }: LockOptions,
    use: (lock: Lock | null) => Promise<void>,
  ): Promise<void> => {
    if (ifAvailable === true && heldLocks.has(name)) return use(null);
    const previousHolder = queues.get(name);
    const takeTurn = async (): Promise<void> => {
      await previousHolder?.catch(() => undefined);
      if (signal?.aborted === true) throw new Error('aborted');
      heldLocks.add(name);
      await use({ name, mode: 'exclusive' });
      heldLocks.delete(name);
    };
    const turn = takeTurn();
    queues.set(name, turn);
    return turn;
  };
  return {
    locks: { request } as unknown as Tabs['locks'],
    openChannel(name, onMessage) {
      const listeners = channels.get(name) ?? new Set();
      channels.set(name, listeners);
      listeners.add(onMessage);
      return {
        send(message) {
          for (const listener of listeners) if (listener !== onMessage) listener(structuredClone(message));
        },
        close: () => void listeners.delete(onMessage),
      };
    },
  };
}

function useFakeTime(): void {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
}

test('one tab has the stream of a run, and another takes it over when that tab is closed', async () => {
  const tabs = createTabs();
  const [listener, other] = [createStreamShare('run', tabs), createStreamShare('run', tabs)];
  const release = await listener.tryLead();
  expect(release).not.toBeNull();
  expect(await other.tryLead()).toBeNull();
  expect(await createStreamShare('another run', tabs).tryLead()).not.toBeNull();
  const waiting = other.waitToLead(new AbortController().signal);
  release?.();
  expect(await waiting).not.toBeNull();
});

test('a listening tab receives the events in batches, except events that are too large for a batch', async () => {
  useFakeTime();
  const tabs = createTabs();
  const [listener, other] = [createStreamShare('run', tabs), createStreamShare('run', tabs)];
  await listener.tryLead();
  listener.publish(event(1));
  const receivedSeqs: number[][] = [];
  const unlisten = other.listen((events) => void receivedSeqs.push(events.map(({ seq }) => seq)));
  for (const seq of [2, 3]) listener.publish(event(seq));
  listener.publish(event(4, 'x'.repeat(300_000)));
  vi.advanceTimersByTime(100);
  expect(receivedSeqs).toEqual([[2, 3]]);
  unlisten();
  listener.publish(event(5));
  vi.advanceTimersByTime(100);
  expect(receivedSeqs).toEqual([[2, 3]]);
});

test('nothing is copied for tabs that no longer announce themselves', async () => {
  useFakeTime();
  const tabs = createTabs();
  const [listener, other] = [createStreamShare('run', tabs), createStreamShare('run', tabs)];
  await listener.tryLead();
  const structuredCloneSpy = vi.spyOn(globalThis, 'structuredClone');
  onTestFinished(() => structuredCloneSpy.mockRestore());
  other.listen(() => undefined)();
  vi.advanceTimersByTime(20_000);
  const callsBefore = structuredCloneSpy.mock.calls.length;
  listener.publish(event(1));
  vi.advanceTimersByTime(100);
  expect(structuredCloneSpy.mock.calls.length).toBe(callsBefore);
});

test('a tab that takes over the stream reaches the tabs that already listened', async () => {
  useFakeTime();
  const tabs = createTabs();
  const [listener, two, three] = ['run', 'run', 'run'].map((id) => createStreamShare(id, tabs));
  const release = await listener?.tryLead();
  const receivedSeqs: number[] = [];
  three?.listen((events) => void receivedSeqs.push(...events.map(({ seq }) => seq)));
  const waiting = two?.waitToLead(new AbortController().signal);
  release?.();
  await waiting;
  two?.publish(event(7));
  vi.advanceTimersByTime(100);
  expect(receivedSeqs).toEqual([7]);
});

test('tabs that cannot communicate have separate streams', async () => {
  const [listener, other] = [createStreamShare('run', undefined), createStreamShare('run', undefined)];
  expect(await listener.tryLead()).not.toBeNull();
  expect(await other.tryLead()).not.toBeNull();
});
