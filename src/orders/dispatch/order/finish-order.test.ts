import { expect, test } from 'vitest';
import { createRunResult } from '../../../store/contract/fixtures/create-run-result.js';
import { result } from '../../fixtures/order.js';
import { collectResult } from './finish-order.js';

const run = createRunResult({ value: result });

test('an answer that needed no repair becomes the result file', () => {
  expect(collectResult(run)).toEqual({
    file: { path: 'work_result.json', text: `${JSON.stringify(result, null, 2)}\n` },
  });
});

test('a repaired answer is a draft, with its original text', () => {
  expect(collectResult({ ...run, repair_level: 'deterministic_generic', text: '{…}' })).toEqual({
    draft: result,
    answer: { text: '{…}', problem: "the agent's answer had to be repaired, so it does not count" },
  });
});

test('an answer without tags is returned with the reason it does not count', () => {
  const { value: _, ...bare } = run;
  expect(collectResult({ ...bare, status: 'comment', text: 'Done.', comment: 'All of it.\n\nDone.' })).toEqual({
    answer: { text: 'All of it.\n\nDone.', problem: expect.stringContaining('the agent answered without tags') },
  });
});

test('JSON without tags is an answer too, not a result', () => {
  const { value: _, ...bare } = run;
  const json = JSON.stringify(result);
  for (const comment of [json, `\`\`\`json\n${json}\n\`\`\``]) {
    expect(collectResult({ ...bare, status: 'comment', comment })).toMatchObject({ answer: { text: comment } });
    expect(collectResult({ ...bare, status: 'comment', comment })).not.toHaveProperty('file');
  }
});

test('an answer that the contract rejects is returned too', () => {
  const error = { category: 'output', code: 'SCHEMA_MISMATCH', message: 'The value does not fit.' } as const;
  expect(collectResult({ ...run, status: 'failed', text: 'Done: 1', error })).toEqual({
    answer: { text: 'Done: 1', problem: "the agent's answer was rejected: The value does not fit" },
  });
});

test.each(['failed', 'canceled'] as const)('no result is collected from a run that ended as %s', (status) => {
  expect(collectResult({ ...run, status })).toEqual({});
});

test('a run without a contract has no result to collect', () => {
  const { value: _, ...bare } = run;
  expect(collectResult(bare)).toEqual({});
});
