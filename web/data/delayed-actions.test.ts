import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { delayAction, delayedActions, dropAction, sendNow } from './delayed-actions.js';

const listeners = new Set<string>();

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('addEventListener', (name: string) => void listeners.add(name));
  vi.stubGlobal('removeEventListener', (name: string) => void listeners.delete(name));
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const ignore = (): void => undefined;

test('an action is sent after a delay, unless it is undone', async () => {
  const sentParts: string[] = [];
  const parts = (id: string) => [{ id, send: async () => sentParts.push(id) }];
  delayAction({ title: 'Undone', parts: parts('a'), onDone: ignore });
  delayAction({ title: 'Sent', parts: parts('b'), onDone: ignore });
  dropAction(delayedActions.value[0]?.id ?? 0);
  await vi.runAllTimersAsync();
  expect([sentParts, delayedActions.value]).toEqual([['b'], []]);
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
  expect(listeners).toEqual(new Set(['beforeunload']));
  sendNow(delayedActions.value[0]?.id ?? 0);
  expect(delayedActions.value).toMatchObject([{ state: 'sending' }]);
  expect(listeners).toEqual(new Set(['beforeunload']));
  finish();
  await vi.runAllTimersAsync();
  expect(delayedActions.value).toMatchObject([{ state: 'failed', failures: ['refused'] }]);
  expect(listeners).toEqual(new Set());
  dropAction(delayedActions.value[0]?.id ?? 0);
  expect(delayedActions.value).toEqual([]);
});
