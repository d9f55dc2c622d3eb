import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../base/index.js';
import { repeatJob } from './repeat-work.js';

/** Repeats a job every few milliseconds; the first round calls the given function. */
function start(first: () => Promise<unknown> = async () => undefined, everyMs = 5) {
  const warnings: unknown[] = [];
  const stopping = new AbortController();
  let rounds = 0;
  const waiting = new Set<() => void>();
  const work = async (): Promise<void> => {
    rounds += 1;
    for (const check of waiting) check();
    if (rounds === 1) await first();
  };
  const logger = { ...silentLogger, warn: (...warning: unknown[]) => void warnings.push(warning) };
  const ended = repeatJob({ name: 'packing', everyMs, work }, { logger, signal: stopping.signal });
  const stop = async (): Promise<void> => {
    stopping.abort();
    await ended;
  };
  onTestFinished(stop);
  return {
    warnings,
    stop,
    count: () => rounds,
    until: async (count: number) =>
      new Promise<void>((resolve) => {
        waiting.add(() => void (rounds >= count && resolve()));
      }),
  };
}

describe('repeatJob', () => {
  it('works at every interval until it is stopped', async () => {
    const { stop, until, count } = start();
    await until(3);
    await stop();
    const rounds = count();
    const other = start();
    await other.until(3);
    expect(count()).toBe(rounds);
  });

  it('does not work before its first interval has passed, and stops at once', async () => {
    const { stop, count } = start(async () => undefined, 60_000);
    await stop();
    expect(count()).toBe(0);
  });

  it('logs a failure and tries again', async () => {
    const { warnings, until } = start(async () => Promise.reject(new Error('disk full')));
    await until(2);
    expect(warnings).toEqual([['packing failed, will retry', { error: 'Error: disk full' }]]);
  });

  it('starts no new round while the current one exceeds the interval', async () => {
    let end = (): void => undefined;
    const slow = start(
      async () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    );
    await slow.until(1);
    const other = start();
    await other.until(5);
    expect(slow.count()).toBe(1);
    end();
    await slow.until(2);
  });
});
