import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { repeatSweep } from './repeat-sweep.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start(work: () => Promise<number>) {
  const warn = vi.fn();
  const logger = { debug: vi.fn(), info: vi.fn(), warn, error: vi.fn() };
  return { warn, ...repeatSweep({ name: 'packing', work, everyMs: 1000, logger }) };
}

/** A sweep that lasts until the test ends it. */
function makeSlow() {
  let end = (): void => undefined;
  const swept = new Promise<number>((resolve) => (end = () => resolve(1)));
  return { swept, end: () => end() };
}

describe('repeatSweep', () => {
  it('sweeps at every interval until it is stopped', async () => {
    const work = vi.fn(async () => 1);
    const { stop } = start(work);
    await vi.advanceTimersByTimeAsync(3000);
    await stop();
    await vi.advanceTimersByTimeAsync(3000);
    expect(work).toHaveBeenCalledTimes(3);
  });

  it('logs a failure and tries again', async () => {
    const work = vi.fn(async () => 1).mockRejectedValueOnce(new Error('disk full'));
    const { warn } = start(work);
    await vi.advanceTimersByTimeAsync(2000);
    expect(work).toHaveBeenCalledTimes(2);
    expect(warn.mock.calls).toEqual([['packing failed, trying again', { error: 'disk full' }]]);
  });

  it('does not pile up sweeps behind one that takes long', async () => {
    const slow = makeSlow();
    const work = vi.fn(async () => 1).mockReturnValueOnce(slow.swept);
    start(work);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(work).toHaveBeenCalledTimes(1);
    slow.end();
    await vi.advanceTimersByTimeAsync(1000);
    expect(work).toHaveBeenCalledTimes(2);
  });

  it('sweeps after the current sweep when it is called', async () => {
    const slow = makeSlow();
    const work = vi.fn(async () => 2).mockReturnValueOnce(slow.swept);
    const { sweep, stop } = start(work);
    const both = Promise.all([sweep(), sweep()]);
    slow.end();
    expect(await both).toEqual([1, 2]);
    await stop();
  });
});
