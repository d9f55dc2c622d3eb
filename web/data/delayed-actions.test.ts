import { signal } from '@preact/signals';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { computeDelay, delayAction, delayedActions, dropAction, sendNow } from './delayed-actions.js';

const listeners = new Map<string, () => void>();
const sentIds: string[] = [];
const ignore = (): void => undefined;

beforeEach(() => {
  sentIds.length = 0;
  vi.useFakeTimers();
  vi.stubGlobal('addEventListener', (name: string, listener: () => void) => void listeners.set(name, listener));
  vi.stubGlobal('removeEventListener', (name: string) => void listeners.delete(name));
});

afterEach(() => {
  for (const { id } of delayedActions.value) dropAction(id);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const part = (id: string, obstacle: string | null = null) => ({
  id,
  send: async () => sentIds.push(id),
  findObstacle: async () => obstacle,
});
const delay = (id: string, more: Partial<Parameters<typeof delayAction>[0]> = {}): void =>
  delayAction({ title: id, parts: [part(id)], onDone: ignore, ...more });

test('an action is sent after six seconds, unless it is withdrawn', async () => {
  delay('withdrawn');
  delay('sent');
  dropAction(delayedActions.value[0]?.id ?? 0);
  await vi.advanceTimersByTimeAsync(5999);
  expect(sentIds).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect([sentIds, delayedActions.value]).toEqual([['sent'], []]);
});

test('is sent once, even if it is sent early', async () => {
  delay('early');
  sendNow(delayedActions.value[0]?.id ?? 0);
  await vi.runAllTimersAsync();
  expect(sentIds).toEqual(['early']);
});

test('is sent at once if it stops something', async () => {
  delay('deny', { isImmediate: true });
  await vi.advanceTimersByTimeAsync(0);
  expect(sentIds).toEqual(['deny']);
});

test('the delay ends before the first deadline that is still ahead', () => {
  expect(computeDelay([], 0)).toBe(6000);
  expect(computeDelay([60_000, 86_400_000], 0)).toBe(6000);
  expect(computeDelay([4000, 86_400_000], 0)).toBe(2500);
  expect(computeDelay([1000], 0)).toBe(0);
  // The process has been stopped already; an answer resumes it.
  expect(computeDelay([1000, 86_400_000], 2000)).toBe(6000);
});

test('nothing is sent if there is an obstacle, which stays visible until it is dismissed', async () => {
  const onDone = vi.fn<() => void>();
  delay('answered', { parts: [part('answered', 'Ada has denied it.'), part('other')], onDone });
  await vi.runAllTimersAsync();
  expect(sentIds).toEqual(['other']);
  const failures = [{ id: 'answered', message: 'Ada has denied it.' }];
  expect(delayedActions.value).toMatchObject([{ state: 'failed', failures }]);
  expect(onDone).toHaveBeenCalledOnce();
});

test('nothing is sent if the obstacle cannot be looked up', async () => {
  delay('unknown', { parts: [{ ...part('unknown'), findObstacle: async () => Promise.reject(new Error('offline')) }] });
  await vi.runAllTimersAsync();
  expect(sentIds).toEqual([]);
  expect(delayedActions.value).toMatchObject([{ state: 'failed', failures: [{ message: 'offline' }] }]);
});

test('the obstacle of an entry that leaves the list is shown before the delay is over', async () => {
  const isListed = signal(true);
  delay('gone', { parts: [part('gone', 'It was withdrawn.')], isListed: () => isListed.value });
  delay('late', { isListed: () => isListed.value });
  isListed.value = false;
  await vi.advanceTimersByTimeAsync(0);
  expect(delayedActions.value).toMatchObject([{ state: 'failed' }, { state: 'waiting' }]);
  // The list was only late.
  await vi.runAllTimersAsync();
  expect(sentIds).toEqual(['late']);
});

test('a page that is left sends nothing, even if the user goes back to it', async () => {
  delay('left');
  listeners.get('pagehide')?.();
  expect(delayedActions.value).toEqual([]);
  await vi.runAllTimersAsync();
  expect(sentIds).toEqual([]);
});

test('a page that was suspended sends nothing', async () => {
  delay('suspended');
  vi.setSystemTime(Date.now() + 3_600_000);
  await vi.runAllTimersAsync();
  expect(sentIds).toEqual([]);
  expect(delayedActions.value).toMatchObject([{ failures: [{ message: expect.stringContaining('suspended') }] }]);
});

test('the browser asks before closing the tab until the last part is sent', async () => {
  let finish = ignore;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const parts = [
    { id: 'a', send: async () => finished },
    { id: 'b', send: async () => Promise.reject(new Error('refused')) },
  ];
  delayAction({ title: 'Rejecting 2 results', parts, onDone: ignore });
  expect(listeners.has('beforeunload')).toBe(true);
  sendNow(delayedActions.value[0]?.id ?? 0);
  await vi.advanceTimersByTimeAsync(0);
  expect(delayedActions.value).toMatchObject([{ state: 'sending' }]);
  expect(listeners.has('beforeunload')).toBe(true);
  finish();
  await vi.runAllTimersAsync();
  expect(delayedActions.value).toMatchObject([{ state: 'failed', failures: [{ id: 'b', message: 'refused' }] }]);
  expect([...listeners.keys()]).toEqual([]);
});
