import { describe, expect, it } from 'vitest';
import { createWaker } from './waker.js';

describe('a waker', () => {
  it('ends a sleep', async () => {
    const waker = createWaker();
    const sleep = waker.sleep(60_000);
    waker.wake();
    await expect(sleep).resolves.toBe(true);
  });

  it('remembers a call before the sleep, and counts many as one', async () => {
    const waker = createWaker();
    waker.wake();
    waker.wake();
    await waker.sleep(60_000);
    const first = await Promise.race([waker.sleep(30).then(() => 'woken'), Promise.resolve('asleep')]);
    expect(first).toBe('asleep');
  });

  it('wakes when the longest wait is over', async () => {
    await expect(createWaker().sleep(1)).resolves.toBe(false);
  });

  it('wakes at the earliest of multiple times', async () => {
    const waker = createWaker();
    for (const delay of [60_000, 5, 30_000]) waker.wakeAt(performance.now() + delay);
    await expect(waker.sleep(60_000)).resolves.toBe(true);
  });
});
