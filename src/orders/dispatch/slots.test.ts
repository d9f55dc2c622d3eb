import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { Slots } from './slots.js';

it('leaves no listener on the signal after a run has waited for a slot', async () => {
  const slots = new Slots(1);
  const { signal } = new AbortController();
  slots.take('first');
  const acquired = slots.assign('second', signal).acquire();
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  slots.free('first');
  await acquired;
  expect(slots.taken).toBe(1);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('continues without a free slot when the signal is aborted', async () => {
  const slots = new Slots(1);
  const stop = new AbortController();
  slots.take('first');
  const acquired = slots.assign('second', stop.signal).acquire();
  stop.abort();
  await acquired;
  expect(slots.taken).toBe(2);
});
