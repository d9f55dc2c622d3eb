import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../contract/fixtures/open-site.js';
import { createTurns } from './turns.js';

describe('turns', () => {
  it('are taken by so many at once, the others in the order they came', async () => {
    const turns = createTurns(2, 10_000);
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

  it('are refused to who has waited too long, and come back afterwards', async () => {
    const turns = createTurns(1, 10);
    let end = (): void => undefined;
    const first = turns.take(
      async () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    );
    expect(await codeOf(turns.take(async () => 'never'))).toBe('STORE_BUSY');
    end();
    await first;
    expect(await turns.take(async () => 'again')).toBe('again');
  });
});
