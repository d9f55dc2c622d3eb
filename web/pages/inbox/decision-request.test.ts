import { expect, test } from 'vitest';
import { readDecision, EMPTY_DECISION } from './decision.js';
import type { DecisionFields } from './decision.js';

const item = { issue_ref: 'acme/shop#9', run_id: '2026-11-15-dev-0001' };
const read = (changes: Partial<DecisionFields>, who = '') => readDecision({ ...EMPTY_DECISION, ...changes }, item, who);

test('no request is built before an action is selected', () => {
  expect(read({ why: 'because' })).toEqual({ body: null, errors: {} });
  expect(read({ action: 'explode', why: 'because' }).body).toBeNull();
});

test('a decision needs a reason', () => {
  expect(read({ action: 'reject', why: ' ' })).toEqual({ body: null, errors: { why: expect.any(String) } });
});

test('a decision has its reason, and a name if one was entered', () => {
  expect(read({ action: 'reject', why: ' wrong branch ' }).body).toEqual({ action: 'reject', why: 'wrong branch' });
  expect(read({ action: 'retry', why: 'x' }, ' Ada ').body).toEqual({ action: 'retry', why: 'x', who: 'Ada' });
});

test('only an edit has a result, from the fields or from the JSON', () => {
  const fields = { why: 'seen by me', pr: '#7', tests: 'n/a', summary: 'Done.' };
  expect(read({ action: 'accept', ...fields }).body).toEqual({ action: 'accept', why: 'seen by me' });
  expect(read({ action: 'edit', ...fields }).body?.result).toEqual({
    ...item,
    status: 'ok',
    changes: { pr: '#7' },
    tests: 'n/a',
    summary: 'Done.',
  });
  expect(read({ action: 'edit', ...fields, view: 'json', json: '{"status":"ok"}' }).body?.result).toEqual({
    status: 'ok',
  });
});

test('invalid JSON is not sent', () => {
  expect(read({ action: 'edit', why: 'x', view: 'json', json: '{' })).toEqual({
    body: null,
    errors: { json: expect.stringContaining('Invalid JSON') },
  });
});

test('an incomplete result is not sent, and every missing field is named', () => {
  const { body, errors } = read({ action: 'edit', why: 'x' });
  expect(body).toBeNull();
  expect(Object.keys(errors)).toEqual(['summary', 'pr', 'testCommand', 'testEvidence']);
  const untested = read({ action: 'edit', why: 'x', tests: 'n/a', commit: 'abc', summary: 'Done.' });
  expect(untested.errors).toEqual({});
});
