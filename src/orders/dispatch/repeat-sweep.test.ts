import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../base/index.js';
import { repeatSweep } from './repeat-work.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Sweeps every second; the first sweep calls the given function, the others return 1. */
function start(first: () => Promise<number> = async () => 1) {
  const warnings: unknown[] = [];
  let sweeps = 0;
  const work = async (): Promise<number> => {
    sweeps += 1;
    return sweeps === 1 ? first() : 1;
  };
  const logger = { ...silentLogger, warn: (...warning: unknown[]) => void warnings.push(warning) };
  const started = repeatSweep({ name: 'packing', work, everyMs: 1000, logger });
  return { ...started, warnings, count: () => sweeps };
}

/** Creates a sweep that lasts until the test ends it. */
function makeSlow() {
  let end = (): void => undefined;
  const done = new Promise<number>((resolve) => {
    end = () => resolve(2);
  });
  return { first: async () => done, end: () => end() };
}

describe('repeatSweep', () => {
  it('sweeps at every interval until it is stopped', async () => {
    const { stop, count } = start();
    await vi.advanceTimersByTimeAsync(3000);
    await stop();
    await vi.advanceTimersByTimeAsync(3000);
    expect(count()).toBe(3);
  });

  it('logs a failure and tries again', async () => {
    const { warnings, count } = start(async () => Promise.reject(new Error('disk full')));
    await vi.advanceTimersByTimeAsync(2000);
    expect(count()).toBe(2);
    expect(warnings).toEqual([['packing failed, will retry', { error: 'disk full' }]]);
  });

  it('starts no new sweep while the current one exceeds the interval', async () => {
    const { first, end } = makeSlow();
    const { count } = start(first);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(count()).toBe(1);
    end();
    await vi.advanceTimersByTimeAsync(1000);
    expect(count()).toBe(2);
  });

  it('sweeps after the current sweep when it is called', async () => {
    const { first, end } = makeSlow();
    const { sweep, stop } = start(first);
    const sweeps = Promise.all([sweep(), sweep()]);
    end();
    expect(await sweeps).toEqual([2, 1]);
    await stop();
  });
});
