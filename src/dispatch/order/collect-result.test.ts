import { expect, test } from 'vitest';
import { createRunResult } from '../../runs/result/fixtures/create-run-result.js';
import { result } from '../../orders/fixtures/order.js';
import { collectResult } from './collect-result.js';

const run = createRunResult({ value: result });

test('an answer that needed no repair becomes the result file', () => {
  expect(collectResult(run)).toEqual({
    file: { path: 'work_result.json', text: `${JSON.stringify(result, null, 2)}\n` },
  });
});

test('a repaired one is a draft', () => {
  expect(collectResult({ ...run, repair_level: 'deterministic_generic' })).toEqual({ draft: result });
});

test.each(['failed', 'canceled', 'comment'] as const)('nothing is taken from a run that ended as %s', (status) => {
  expect(collectResult({ ...run, status })).toEqual({});
});

test('a run without a contract has nothing to take', () => {
  const { value: _, ...bare } = run;
  expect(collectResult(bare)).toEqual({});
});
