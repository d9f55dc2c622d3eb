import { expect, test } from 'vitest';
import { isAcceptable, viewReading } from './reading-view.js';

const item = { issue_ref: 'acme/shop#9', run_id: '2026-11-15-dev-0001' };
const result = { ...item, status: 'ok', changes: { commit: 'abc' }, summary: 'Done.' };

test('a reading says where it was read and what was wrong', () => {
  const view = viewReading({
    source: 'json',
    path: 'work_result.json',
    problems: [{ code: 'RESULT_NOT_JSON', message: 'it is not JSON' }, 'noise'],
    draft: { status: 'ok' },
  });
  expect(view.source).toBe('a JSON file: work_result.json');
  expect(view.problems).toEqual([{ code: 'RESULT_NOT_JSON', message: 'it is not JSON', path: '' }]);
  expect(view.draft).toEqual({ status: 'ok' });
});

test('what was only printed is shown as anchors', () => {
  expect(viewReading({ source: 'streams', path: 'stdout', anchors: { status: 'ok' }, problems: [] })).toMatchObject({
    anchors: [['status', 'ok']],
    commit: 'none named',
  });
});

test.each([
  ['found', []],
  ['not found', [{ code: 'COMMIT_NOT_FOUND', message: '' }]],
  ['not checked', [{ code: 'COMMIT_UNCHECKED', message: '' }]],
] as const)('a commit was %s', (expected, problems) => {
  expect(viewReading({ source: 'json', problems, result }).commit).toBe(expected);
});

test('a notice that it was not looked for counts too', () => {
  const notices = [{ code: 'COMMIT_NOT_CHECKED', message: '' }];
  expect(viewReading({ source: 'json', problems: [], notices, result }).commit).toBe('not checked');
});

test('only a strict result of this very run can be accepted', () => {
  const view = (value: unknown) => viewReading({ source: 'json', problems: [], result: value });
  expect(isAcceptable(view(result), item)).toBe(true);
  expect(isAcceptable(view({ ...result, run_id: 'another' }), item)).toBe(false);
  expect(isAcceptable(view(undefined), item)).toBe(false);
  expect(isAcceptable(view('ok'), item)).toBe(false);
});

test('an unexpected shape is shown as far as possible', () => {
  expect(viewReading({ source: 7, problems: 'none', anchors: [] })).toMatchObject({
    source: '7',
    problems: [],
    anchors: [],
  });
});
