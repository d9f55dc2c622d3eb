import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { catchCode } from '../contract/fixtures/open-site.js';
import { createConcurrencyLimiter } from './database.js';

describe('the concurrency limiter', () => {
  it('are limited in number; further callers wait in order of arrival', async () => {
    const limiter = createConcurrencyLimiter({ limit: 2, maxWaitMs: 10_000 });
    let now = 0;
    let most = 0;
    const order: number[] = [];
    const work = async (number: number): Promise<number> => {
      now += 1;
      most = Math.max(most, now);
      order.push(number);
      await nextTurn();
      now -= 1;
      if (number === 3) throw new Error('third');
      return number;
    };
    const results = await Promise.allSettled(
      [1, 2, 3, 4, 5].map(async (number) => limiter.run(async () => work(number))),
    );
    expect(most).toBe(2);
    expect(order).toEqual([1, 2, 3, 4, 5]);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
  });

  it('are rejected after the maximum wait, and become available again', async () => {
    const limiter = createConcurrencyLimiter({ limit: 1, maxWaitMs: 10 });
    let end = (): void => undefined;
    const first = limiter.run(
      async () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    );
    expect(await catchCode(limiter.run(async () => 'never'))).toBe('STORE_BUSY');
    end();
    await first;
    expect(await limiter.run(async () => 'again')).toBe('again');
  });

  it('use the open connections first, and another connection only when none becomes free', async () => {
    let open = 1;
    const limiter = createConcurrencyLimiter({ limit: 2, maxWaitMs: 10_000, countOpen: () => open, openAfterMs: 30 });
    let [now, most] = [0, 0];
    const work = async (until: Promise<unknown>): Promise<void> => {
      now += 1;
      most = Math.max(most, now);
      await until;
      now -= 1;
    };
    await Promise.all([1, 2, 3].map(async () => limiter.run(async () => work(nextTurn()))));
    expect(most).toBe(1);
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    // The first call ends when the second has started.
    await Promise.all([limiter.run(async () => work(ended)), limiter.run(async () => work(Promise.resolve(end())))]);
    expect(most).toBe(2);
    open = 2;
    most = 0;
    await Promise.all([1, 2, 3].map(async () => limiter.run(async () => work(nextTurn()))));
    expect(most).toBe(2);
  });

  it('use another connection once callers have waited as long as opening one takes', async () => {
    const limiter = createConcurrencyLimiter({
      limit: 2,
      maxWaitMs: 10_000,
      countOpen: () => 1,
      openAfterMs: 10_000,
      openAfterTotalMs: 5,
    });
    // How many of two callers were served concurrently.
    const serveTwo = async (): Promise<number> => {
      let [now, most] = [0, 0];
      const work = async (): Promise<void> => {
        now += 1;
        most = Math.max(most, now);
        await nextTurn();
        now -= 1;
      };
      await Promise.all([limiter.run(work), limiter.run(work)]);
      return most;
    };
    let rounds = 1;
    while ((await serveTwo()) < 2) rounds += 1;
    expect(rounds).toBeGreaterThan(1);
    // The total is reset: the newly opened connection is expected to serve them.
    expect(await serveTwo()).toBe(1);
  });
});
