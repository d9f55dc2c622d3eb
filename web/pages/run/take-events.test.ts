import { expect, test } from 'vitest';
import { takeEvents } from './take-events.js';

async function* count(to: number): AsyncGenerator<number> {
  for (let index = 0; index < to; index += 1) yield index;
}

test('takes every event once and in order, to the end', async () => {
  const taken: number[] = [];
  const how = await takeEvents(count(10), (event) => {
    taken.push(event);
    return 'more';
  });
  expect(how).toBe('ended');
  expect(taken).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('ends when there is enough, and lets the stream go', async () => {
  let isClosed = false;
  async function* endless(): AsyncGenerator<number> {
    try {
      for (let index = 0; ; index += 1) yield index;
    } finally {
      isClosed = true;
    }
  }
  expect(await takeEvents(endless(), (event) => (event === 5 ? 'enough' : 'more'))).toBe('enough');
  expect(isClosed).toBe(true);
});

test('lets others have a turn while many events are there at once', async () => {
  let hadTurn = false;
  setTimeout(() => (hadTurn = true), 0);
  // No machine takes a million in one slice.
  expect(await takeEvents(count(1_000_000), () => (hadTurn ? 'enough' : 'more'))).toBe('enough');
});
