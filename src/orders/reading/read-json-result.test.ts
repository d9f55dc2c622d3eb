import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { order, result } from '../fixtures/order.js';
import { readJsonResult } from './read-work-result.js';

const pascal = {
  IssueRef: order.issue_ref,
  RunID: order.run_id,
  Status: 'ok',
  Summary: 'The basket adds up.',
  ResultCode: 'none',
  Changes: { PR: 'https://forge.example/acme/shop/pull/7', Commit: 'git:1A2B3C4D' },
  Tests: { Command: 'npm test', Result: 'pass', Evidence: '42 passed' },
};

const read = (value: unknown) => readJsonResult(JSON.stringify(value));
const listCodes = (text: string) =>
  readJsonResult(text).problems.map(({ code, path }) => (path ? `${code} ${path}` : code));

describe('work_result.json', () => {
  test('yields the same result in PascalCase and in snake_case', () => {
    expect(read(pascal)).toEqual({ result, problems: [] });
    expect(read(result)).toEqual({ result, problems: [] });
    expect(read({ ...pascal, RunID: undefined, RunId: order.run_id })).toEqual({ result, problems: [] });
  });

  test('accepts lists, questions under both names, and a single string for a list', () => {
    const { result: parsed } = read({
      ...pascal,
      Status: 'blocked',
      BlockedBy: 'acme/shop#3',
      OpenQuestions: ['Which currency?', ' none '],
    });
    expect(parsed).toMatchObject({
      status: 'blocked',
      blocked_by: ['acme/shop#3'],
      questions: ['Which currency?'],
    });
    expect(read({ ...result, result_code: 'CI_FAILED' }).result?.result_code).toBe('ci_failed');
  });

  test('ignores unknown keys', () => {
    expect(read({ ...pascal, Mood: 'good', __proto: 1 }).result).toEqual(result);
  });

  test.each([
    ['a text', '"ok"', 'RESULT_NOT_OBJECT'],
    ['a list', `[${JSON.stringify(result)}]`, 'RESULT_NOT_OBJECT'],
    ['nothing', '', 'RESULT_NOT_JSON'],
    ['half of it', JSON.stringify(result).slice(0, -20), 'RESULT_NOT_JSON'],
    ['a trailing comma', `${JSON.stringify(result).slice(0, -1)},}`, 'RESULT_NOT_JSON'],
    ['a fence around it', `\`\`\`json\n${JSON.stringify(result)}\n\`\`\``, 'RESULT_NOT_JSON'],
    ['two values', `${JSON.stringify(result)}\n${JSON.stringify(result)}`, 'RESULT_NOT_JSON'],
    ['a bomb', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'RESULT_NOT_JSON'],
    ['a duplicate key', `{"Status": "fail", ${JSON.stringify(result).slice(1)}`, 'KEY_CONFLICT status'],
    ['an exact duplicate key', `{"status": "fail", ${JSON.stringify(result).slice(1)}`, 'DUPLICATE_KEY status'],
    ['a nested duplicate key', `${JSON.stringify(result).slice(0, -1)},"x":{"y":1,"y":2}}`, 'DUPLICATE_KEY x.y'],
  ])('is not a result if it is %s', (_, text, code) => {
    const reading = readJsonResult(text);
    expect(listCodes(text)).toEqual([code]);
    expect(reading.result).toBeUndefined();
  });

  test.each([
    ['no issue', { issue_ref: undefined }, ['KEY_MISSING issue_ref']],
    ['an empty run', { run_id: '' }, ['KEY_MISSING run_id']],
    ['a status of null', { status: null }, ['KEY_MISSING status']],
    ['another status', { status: 'done' }, ['INVALID_VALUE status']],
    ['a status that is not a string', { status: true }, ['INVALID_VALUE status']],
    ['a run that is a number', { run_id: 1 }, ['INVALID_VALUE run_id']],
    ['an endless issue', { issue_ref: 'x'.repeat(501) }, ['INVALID_VALUE issue_ref']],
    ['an empty issue', { issue_ref: '' }, ['KEY_MISSING issue_ref']],
    ['a run of null', { run_id: null }, ['KEY_MISSING run_id']],
    ['an empty status', { status: '' }, ['KEY_MISSING status']],
    ['a summary that is not a string', { summary: ['a'] }, ['INVALID_VALUE summary']],
    ['a list of other things', { blocked_by: [1] }, ['INVALID_VALUE blocked_by']],
    ['an endless list', { questions: Array.from({ length: 101 }, () => 'x') }, ['INVALID_VALUE questions']],
    ['changes that are a string', { changes: 'lots' }, ['INVALID_VALUE changes']],
    ['a branch for a commit', { changes: { commit: 'main' } }, ['INVALID_VALUE changes.commit']],
    ['an option for a commit', { changes: { commit: '--all' } }, ['INVALID_VALUE changes.commit']],
    ['a pull request that is not a string', { changes: { pr: true } }, ['INVALID_VALUE changes.pr']],
    ['a promise for a pull request', { changes: { pr: 'coming soon' } }, ['INVALID_VALUE changes.pr']],
    ['changes in two spellings', { changes: { PR: '#1', pr: '#2' } }, ['KEY_CONFLICT changes.pr']],
    ['tests that are a list', { tests: [] }, ['INVALID_VALUE tests']],
    ['a command whose result is missing', { tests: 'npm test => ' }, ['INVALID_VALUE tests']],
    [
      'a pull request that differs from the one in changes',
      { PR: '#8', changes: { pr: '#7' } },
      ['KEY_CONFLICT changes.pr'],
    ],
    ['a commit in two spellings at the top level', { Commit: '1a2b3c4d', COMMIT: '5e6f7a8b' }, ['KEY_CONFLICT commit']],
    [
      'a URL that is not a commit page',
      { changes: { commit: 'https://forge.example/commit/main' } },
      ['INVALID_VALUE changes.commit'],
    ],
    ['words after a hash', { changes: { commit: '1a2b3c4d#note' } }, ['INVALID_VALUE changes.commit']],
    ['tests without a result', { tests: { command: 'npm test' } }, ['INVALID_VALUE tests.result']],
    [
      'evidence that is not a string',
      { tests: { ...(result.tests as object), evidence: 1 } },
      ['INVALID_VALUE tests.evidence'],
    ],
    ['tests in two spellings', { tests: { result: 'pass', Result: 'fail' } }, ['KEY_CONFLICT tests.result']],
  ])('is not a result with %s; the readable part becomes a draft', (_, changes, codes) => {
    const text = JSON.stringify({ ...result, ...changes });
    expect(listCodes(text)).toEqual(codes);
    expect(readJsonResult(text).result).toBeUndefined();
    expect(readJsonResult(text).draft).toBeTypeOf('object');
  });

  test('is a result even without evidence, and the missing evidence is reported', () => {
    const minimalResult = { issue_ref: order.issue_ref, run_id: order.run_id, status: 'ok' };
    expect(read(minimalResult).result).toEqual({ ...minimalResult, changes: {}, summary: '' });
    expect(listCodes(JSON.stringify(minimalResult))).toEqual(['CHANGES_MISSING changes', 'TESTS_MISSING tests']);
  });

  test.each([
    ['tests', { tests: '' }],
    ['tests', { tests: 'none' }],
    ['tests', { tests: {} }],
    ['tests', { tests: null }],
    ['tests', { tests: { command: 'none', result: '' } }],
    ['changes', { changes: { pr: ' None ', commit: 'N/A' } }],
    ['changes', { changes: null }],
    ['changes', { changes: 'none' }],
  ])('treats %s as missing: %j', (path, changes) => {
    const { result: parsed, problems } = read({ ...result, ...changes });
    expect(parsed?.status).toBe('ok');
    expect(problems.map((problem) => problem.path)).toEqual([path]);
  });

  test.each([
    ['n/a', 'n/a'],
    ['N/A', 'n/a'],
    [{ command: 'none', result: 'n/a' }, 'n/a'],
    [{ Result: 'n/a' }, 'n/a'],
    ['npm test => pass', { command: 'npm test', result: 'pass', evidence: '' }],
    ['echo "a => b" => FAIL', { command: 'echo "a => b"', result: 'fail', evidence: '' }],
    ['pass', { command: '', result: 'pass', evidence: '' }],
    [{ result: 'pass' }, { command: '', result: 'pass', evidence: '' }],
    ['npm test passed', { command: '', result: 'pass', evidence: 'npm test passed' }],
    ['42 passed, 0 failed', { command: '', result: 'pass', evidence: '42 passed, 0 failed' }],
    ['npm test => 3 failed', { command: 'npm test', result: 'fail', evidence: '3 failed' }],
    ['all fine', { command: '', result: 'not_recognised', evidence: 'all fine' }],
    [
      { command: 'npm test', result: 'mostly', evidence: 'log.txt' },
      { command: 'npm test', result: 'not_recognised', evidence: 'mostly; log.txt' },
    ],
    [
      { COMMAND: 'x', result: 'n/a', Evidence: 'none' },
      { command: 'x', result: 'n/a', evidence: '' },
    ],
  ])('reads the tests %j', (tests, expected) => {
    expect(read({ ...result, tests })).toEqual({ result: { ...result, tests: expected }, problems: [] });
  });

  test.each(['#7', '!7', 'acme/shop#7', 'PR-7', 'https://forge.example/pull/new', 7])(
    'reads %j as a pull request',
    (pr) => {
      expect(read({ ...result, changes: { pr } })).toMatchObject({
        result: { changes: { pr: String(pr) } },
        problems: [],
      });
    },
  );

  test.each(['not run', 'skipped', 'todo', { command: 'npm test', result: 'Not run' }])(
    'asks a human if the tests were not run: %j',
    (tests) => {
      const reading = read({ ...result, tests });
      expect(reading.result?.tests).toMatchObject({ result: 'not_run' });
      expect(reading.problems).toEqual([{ code: 'TESTS_MISSING', message: 'the tests were not run', path: 'tests' }]);
    },
  );

  test.each([
    [{ PR: '#7' }, { pr: '#7' }],
    [{ pr: 7 }, { pr: '7' }],
    [{ Commit: 'git:1A2B3C4D' }, { commit: '1a2b3c4d' }],
    [
      { COMMIT: '1a2b3c4d', Pr: '!7' },
      { pr: '!7', commit: '1a2b3c4d' },
    ],
    [
      { PR: '#7', changes: { Commit: '1a2b3c4d' } },
      { pr: '#7', commit: '1a2b3c4d' },
    ],
    [{ PR: '#7', changes: { PR: '#7' } }, { pr: '#7' }],
    [{ PR: '#7', changes: { PR: 'none' } }, { pr: '#7' }],
    [{ PR: 'none', changes: { PR: '#7' } }, { pr: '#7' }],
    [{ Commit: '1a2b3c4d', changes: 'none' }, { commit: '1a2b3c4d' }],
  ])('accepts a pull request and a commit at the top level: %j', (fields, changes) => {
    const { changes: _, ...rest } = result;
    expect(read({ ...rest, ...fields })).toEqual({ result: { ...result, changes }, problems: [] });
  });

  test.each([
    'https://forge.example/acme/shop/commit/1A2B3C4D',
    'https://forge.example/acme/shop/-/commit/1a2b3c4d?view=parallel#L3',
    'http://forge.example/acme/shop/pull/7/commits/1a2b3c4d/',
  ])('reads the hash from a commit URL: %s', (commit) => {
    expect(read({ ...result, changes: { commit } }).result?.changes).toEqual({ commit: '1a2b3c4d' });
  });

  test('blocked needs no evidence: invalid evidence is a notice', () => {
    const reading = read({ ...result, status: 'blocked', tests: [], changes: { commit: 'none yet' } });
    expect(reading.result).toMatchObject({ status: 'blocked', changes: {} });
    expect(reading.problems).toEqual([]);
    expect(reading.notices?.map(({ path }) => path)).toEqual(['changes.commit', 'tests']);
  });

  test('JSON that needs repair is a draft and never a result', () => {
    const broken = `Here it is:\n{"IssueRef": "acme/shop#12", 'RunId': "2026-11-15-backend-0001", "Status": "ok", "Changes": {"PR": "#7"`;
    expect(readJsonResult(broken)).toEqual({
      problems: [{ code: 'RESULT_NOT_JSON', message: expect.stringContaining('invalid JSON: ') }],
      draft: { issue_ref: 'acme/shop#12', run_id: '2026-11-15-backend-0001', status: 'ok', changes: { pr: '#7' } },
    });
  });

  test('a draft is shallow and has only known keys', () => {
    const malicious = `{"__proto__": {"status": "ok"}, "constructor": 1, "summary": ${'['.repeat(5000)}, "status": "ok"`;
    const { draft } = readJsonResult(malicious);
    expect(JSON.stringify(draft ?? {}).length).toBeLessThan(200);
    expect(Object.getPrototypeOf(draft ?? {})).toBe(Object.prototype);
  });

  test('never throws on arbitrary input, and a result equals what JSON.parse returns', () => {
    const damaged = fc
      .tuple(fc.constant(JSON.stringify(pascal)), fc.nat(400), fc.nat(10), fc.string({ unit: 'binary', maxLength: 4 }))
      .map(([text, at, length, patch]) => text.slice(0, at) + patch + text.slice(at + length));
    fc.assert(
      fc.property(fc.oneof(damaged, fc.json(), fc.string()), (text) => {
        const reading = readJsonResult(text);
        expect(reading.result !== undefined || reading.problems.length > 0).toBe(true);
        if (reading.result === undefined) return;
        const value = JSON.parse(text) as Record<string, unknown>;
        expect(Object.values(value)).toContain(reading.result.issue_ref);
        expect(Object.values(value)).toContain(reading.result.run_id);
      }),
    );
  });
});
