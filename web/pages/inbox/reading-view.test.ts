import { isAcceptable } from './decision.js';
import { expect, test } from 'vitest';
import { checkCommit, describeSource } from './item.js';

const item = { issue_ref: 'acme/shop#9', run_id: '2026-11-15-dev-0001' };
const result = { ...item, status: 'ok', changes: { commit: 'abc' }, summary: 'Done.' } as const;

test('the source is described by its kind and its file', () => {
  expect(describeSource({ source: 'json', path: 'work_result.json', problems: [] })).toBe(
    'JSON file: work_result.json',
  );
  expect(describeSource({ source: 'none', path: 'x', problems: [] })).toBe('Nothing: the agent left no result');
});

test('a result that was only printed names no commit', () => {
  expect(checkCommit({ source: 'streams', path: 'stdout', anchors: { status: 'ok' }, problems: [] })).toBe('none');
});

test.each([
  ['found', []],
  ['missing', [{ code: 'COMMIT_NOT_FOUND', message: '' }]],
  ['unchecked', [{ code: 'COMMIT_UNCHECKED', message: '' }]],
] as const)('the check of a commit returns "%s"', (expected, problems) => {
  expect(checkCommit({ source: 'json', problems, result })).toBe(expected);
});

test('a commit counts as unchecked if a notice reports it', () => {
  const notices = [{ code: 'NOT_A_REPOSITORY', message: '' }];
  expect(checkCommit({ source: 'json', problems: [], notices, result })).toBe('unchecked');
});

test('only an unrepaired result of this run can be accepted', () => {
  expect(isAcceptable({ source: 'json', problems: [], result }, item)).toBe(true);
  expect(isAcceptable({ source: 'json', problems: [], result: { ...result, run_id: 'another' } }, item)).toBe(false);
  expect(isAcceptable({ source: 'json', problems: [] }, item)).toBe(false);
});
