import { expect, test } from 'vitest';
import { RunUsage } from './run-context.js';

const turn = (input: number, output: number) =>
  ({ scope: 'turn', input_tokens: input, output_tokens: output }) as const;
const total = (input: number, output: number) => ({ ...turn(input, output), scope: 'total' }) as const;

test('usage is null until the engine reports it', () => {
  const usage = new RunUsage();
  expect([usage.total, usage.tokens, usage.cost]).toEqual([null, 0, 0]);
});

test('turns are added up, even across attempts', () => {
  const usage = new RunUsage();
  usage.add(turn(10, 1));
  usage.add(turn(5, 2));
  expect(usage.total).toEqual(total(15, 3));
  expect(usage.tokens).toBe(18);
});

test('the total of a resumed session counts once', () => {
  const usage = new RunUsage();
  usage.add(total(10, 1));
  usage.add(total(25, 2));
  expect(usage.total).toEqual(total(25, 2));
});

test('a new session is added to the previous session', () => {
  const usage = new RunUsage();
  usage.add({ ...total(10, 1), cost: 0.5 });
  usage.startSession();
  expect(usage.total).toEqual({ ...total(10, 1), cost: 0.5 });
  usage.add({ ...total(3, 1), cost: 0.25 });
  expect(usage.total).toEqual({ ...total(13, 2), cost: 0.75 });
  expect(usage.cost).toBe(0.75);
});

test('the engine’s own token total is used if it reports one', () => {
  const usage = new RunUsage();
  usage.add({ ...total(10, 1), total_tokens: 40 });
  expect(usage.tokens).toBe(40);
});
