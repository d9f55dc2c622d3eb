import { expect, test } from 'vitest';
import { measureWeight } from './share-stream.js';

const weigh = (data: object): number => measureWeight({ data }) - measureWeight({ data: {} });

test('the weight of an event grows by the length of its text', () => {
  expect(weigh({ text: 'x'.repeat(1000) })).toBe(1000);
  expect(weigh({ input: { command: 'x'.repeat(500) } })).toBe(508);
});

test('tool output counts at any depth', () => {
  expect(weigh({ output: { content: [{ type: 'text', text: 'x'.repeat(1000) }] } })).toBeGreaterThanOrEqual(1000);
  let deep: unknown = 'x'.repeat(1000);
  for (let depth = 0; depth < 10_000; depth += 1) deep = [deep];
  expect(weigh({ output: deep })).toBeGreaterThanOrEqual(1000);
  expect(weigh({ output: Array.from({ length: 1000 }, () => []) })).toBeGreaterThanOrEqual(1000);
});
