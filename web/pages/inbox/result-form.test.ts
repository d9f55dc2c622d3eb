import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EMPTY_RESULT_FORM, fillResultForm, findMissing, parseResult, buildResult } from './decision.js';

const item = { issue_ref: 'acme/shop#9', run_id: '2026-11-15-dev-0001' };
const complete = {
  ...item,
  status: 'ok',
  changes: { pr: 'https://example.org/pull/9', commit: 'abc' },
  tests: { command: 'npm test', result: 'fail', evidence: '1 of 214 failed' },
  summary: 'Keeps the order.\nAlso on later pages.',
  questions: ['Is the cache cold?'],
};

test('a result passes through the form unchanged', () => {
  expect(buildResult(fillResultForm(complete), item)).toEqual(complete);
  const untested = { ...complete, tests: 'n/a' };
  expect(buildResult(fillResultForm(untested), item)).toEqual(untested);
});

test.each(['not_run', 'not_recognised'])('tests that are %s leave the result to be chosen', (result) => {
  const form = fillResultForm({ ...complete, tests: { command: 'npm test', result, evidence: 'mostly' } });
  expect(form.testResult).toBe('');
  expect(findMissing(form)).toEqual({ testResult: 'Choose the result.' });
});

test('fields that the result does not contain are omitted', () => {
  expect(buildResult(fillResultForm({ status: 'ok' }), item)).toEqual({
    ...item,
    status: 'ok',
    changes: {},
    tests: { result: 'pass' },
    summary: '',
  });
});

test('issue, run and status come from the item, even if the agent wrote others', () => {
  const conflicting = fillResultForm({ ...complete, issue_ref: 'other#1', run_id: 'x', status: 'blocked' });
  expect(buildResult(conflicting, item)).toMatchObject({ ...item, status: 'ok' });
});

test('any draft can be shown in the form', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const form = fillResultForm(value);
      expect(Object.keys(form)).toEqual(Object.keys(EMPTY_RESULT_FORM));
      expect(Object.values(form).every((field) => typeof field === 'string')).toBe(true);
    }),
  );
});

test('a result round-trips through JSON, and invalid JSON is refused with a message', () => {
  expect(parseResult(JSON.stringify(complete))).toEqual({ result: complete });
  expect(parseResult('[]')).toEqual({ error: 'The JSON is not an object. Enter a work result as a JSON object.' });
  expect(parseResult('{')).toEqual({ error: expect.stringContaining('Invalid JSON') });
});
