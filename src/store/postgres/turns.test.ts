import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { catchCode } from '../contract/fixtures/open-site.js';
import { createTurns } from './turns.js';

describe('turns', () => {
  it('are limited to the allowed number, the others wait in order of arrival', async () => {
    const turns = createTurns({ atOnce: 2, longestWaitMs: 10_000 });
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
      [1, 2, 3, 4, 5].map(async (number) => turns.take(async () => work(number))),
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

  it('are refused after the longest wait, and become available again', async () => {
    const turns = createTurns({ atOnce: 1, longestWaitMs: 10 });
    let end = (): void => undefined;
    const first = turns.take(
      async () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    );
    expect(await catchCode(turns.take(async () => 'never'))).toBe('STORE_BUSY');
    end();
    await first;
    expect(await turns.take(async () => 'again')).toBe('again');
  });

  it('use the open connections first, and more only when none of them becomes free', async () => {
    let open = 1;
    const turns = createTurns({ atOnce: 2, longestWaitMs: 10_000, countOpen: () => open, patienceMs: 30 });
    let [now, most] = [0, 0];
    const work = async (until: Promise<unknown>): Promise<void> => {
      now += 1;
      most = Math.max(most, now);
      await until;
      now -= 1;
    };
    await Promise.all([1, 2, 3].map(async () => turns.take(async () => work(nextTurn()))));
    expect(most).toBe(1);
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    // The first ends when the second has begun beside it.
    await Promise.all([turns.take(async () => work(ended)), turns.take(async () => work(Promise.resolve(end())))]);
    expect(most).toBe(2);
    open = 2;
    most = 0;
    await Promise.all([1, 2, 3].map(async () => turns.take(async () => work(nextTurn()))));
    expect(most).toBe(2);
  });
});
