import { describe, expect, it } from 'vitest';
import { createWakers } from './wakers.js';

describe('wakers', () => {
  it('call all watchers of a key, soon but not immediately', async () => {
    const wakers = createWakers();
    const calls: string[] = [];
    wakers.watch('a', () => calls.push('first'));
    wakers.watch('a', () => calls.push('second'));
    wakers.watch('b', () => calls.push('other'));
    wakers.wake('a');
    wakers.wake('nobody');
    expect(calls).toEqual([]);
    await Promise.resolve();
    expect(calls).toEqual(['first', 'second']);
  });

  it('do not call a removed watcher, even if it was removed between the wake-up and the call', async () => {
    const wakers = createWakers();
    const calls: string[] = [];
    const wake = (): unknown => calls.push('x');
    const stop = wakers.watch('a', wake);
    wakers.watch('a', wake);
    wakers.wake('a');
    stop();
    await Promise.resolve();
    expect(calls).toEqual(['x']);
  });

  it('forget keys without watchers', () => {
    const wakers = createWakers();
    const stop = wakers.watch('a', () => undefined);
    expect(wakers.keys()).toEqual(['a']);
    stop();
    stop();
    expect(wakers.keys()).toEqual([]);
  });
});
