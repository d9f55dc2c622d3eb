import { expect, onTestFinished, test, vi } from 'vitest';
import { fcmpEvent } from './events.fixture.js';
import { createStreamShare } from './share-stream.js';
import type { Message, RunEvent, Tabs } from './share-stream.js';

const event = (seq: number, text = 'x'): RunEvent => fcmpEvent('raw.stdout', { text }, { seq });

/** Simulates the tabs of a browser, with a queue for each lock and channels that reach all tabs except the sender. */
function createTabs(): Tabs {
  const queues = new Map<string, Promise<void>>();
  const held = new Set<string>();
  const channels = new Map<string, Set<(message: Message) => void>>();
  const request = async (
    name: string,
    { ifAvailable, signal }: LockOptions,
    use: (lock: Lock | null) => Promise<void>,
  ): Promise<void> => {
    if (ifAvailable === true && held.has(name)) return use(null);
    const before = queues.get(name);
    const takeTurn = async (): Promise<void> => {
      await before?.catch(() => undefined);
      if (signal?.aborted === true) throw new Error('aborted');
      held.add(name);
      await use({ name, mode: 'exclusive' });
      held.delete(name);
    };
    const turn = takeTurn();
    queues.set(name, turn);
    return turn;
  };
  return {
    locks: { request } as unknown as Tabs['locks'],
    openChannel(name, onMessage) {
      const all = channels.get(name) ?? new Set();
      channels.set(name, all);
      all.add(onMessage);
      return {
        send(message) {
          for (const one of all) if (one !== onMessage) one(structuredClone(message));
        },
        close: () => void all.delete(onMessage),
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
  const [one, other] = [createStreamShare('run', tabs), createStreamShare('run', tabs)];
  const release = await one.tryLead();
  expect(release).not.toBeNull();
  expect(await other.tryLead()).toBeNull();
  expect(await createStreamShare('another run', tabs).tryLead()).not.toBeNull();
  const waiting = other.waitToLead(new AbortController().signal);
  release?.();
  expect(await waiting).not.toBeNull();
});

test('a listening tab receives the events in groups, except events that are too large for a group', async () => {
  useFakeTime();
  const tabs = createTabs();
  const [one, other] = [createStreamShare('run', tabs), createStreamShare('run', tabs)];
  await one.tryLead();
  one.publish(event(1));
  const heard: number[][] = [];
  const unlisten = other.listen((events) => void heard.push(events.map(({ seq }) => seq)));
  for (const seq of [2, 3]) one.publish(event(seq));
  one.publish(event(4, 'x'.repeat(300_000)));
  vi.advanceTimersByTime(100);
  expect(heard).toEqual([[2, 3]]);
  unlisten();
  one.publish(event(5));
  vi.advanceTimersByTime(100);
  expect(heard).toEqual([[2, 3]]);
});

test('nothing is copied for tabs that no longer announce themselves', async () => {
  useFakeTime();
  const tabs = createTabs();
  const [one, other] = [createStreamShare('run', tabs), createStreamShare('run', tabs)];
  await one.tryLead();
  const posted = vi.spyOn(globalThis, 'structuredClone');
  onTestFinished(() => posted.mockRestore());
  other.listen(() => undefined)();
  vi.advanceTimersByTime(20_000);
  const before = posted.mock.calls.length;
  one.publish(event(1));
  vi.advanceTimersByTime(100);
  expect(posted.mock.calls.length).toBe(before);
});

test('a tab that takes over the stream reaches the tabs that already listened', async () => {
  useFakeTime();
  const tabs = createTabs();
  const [one, two, three] = ['run', 'run', 'run'].map((id) => createStreamShare(id, tabs));
  const release = await one?.tryLead();
  const heard: number[] = [];
  three?.listen((events) => void heard.push(...events.map(({ seq }) => seq)));
  const waiting = two?.waitToLead(new AbortController().signal);
  release?.();
  await waiting;
  two?.publish(event(7));
  vi.advanceTimersByTime(100);
  expect(heard).toEqual([7]);
});

test('tabs that cannot communicate have separate streams', async () => {
  const [one, other] = [createStreamShare('run', undefined), createStreamShare('run', undefined)];
  expect(await one.tryLead()).not.toBeNull();
  expect(await other.tryLead()).not.toBeNull();
});
