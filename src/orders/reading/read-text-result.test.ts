import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { order, result } from '../fixtures/order.js';
import { readTextResult } from './read-work-result.js';

const header = [
  'IssueRef: acme/shop#12',
  'RunId: 2026-11-15-backend-0001',
  'Status: ok',
  'PR: https://forge.example/acme/shop/pull/7',
  'Commit: git:1a2b3c4d',
  'Tests: npm test => pass',
];
const body = 'The basket adds up.';
const fromText = { ...result, tests: { command: 'npm test', result: 'pass', evidence: '' } };

const joinText = (lines: readonly string[], rest = body): string => `${lines.join('\n')}\n\n${rest}\n`;
const without = (key: string): string[] => header.filter((line) => !line.startsWith(key));
const listCodes = (text: string) =>
  readTextResult(text).problems.map(({ code, path }) => (path ? `${code} ${path}` : code));

describe('work_result.txt', () => {
  test('is a header up to the first blank line, then the summary', () => {
    expect(readTextResult(joinText(header))).toEqual({ result: fromText, problems: [] });
  });

  test.each([
    ['keys in any case', joinText(header.map((line) => line.replace(/^\w+/, (key) => key.toUpperCase())))],
    ['keys in snake_case', joinText(['issue_ref: acme/shop#12', 'run_id:2026-11-15-backend-0001', ...header.slice(2)])],
    ['CRLF', joinText(header).replaceAll('\n', '\r\n')],
    ['spaces around values', joinText(header.map((line) => `${line.replace(':', ' :\t ')}  `))],
    ['a blank first line', `\n${joinText(header)}`],
    ['multiple leading blank lines', ` \r\n\n\t\n${joinText(header)}`],
    ['blank lines in the body', joinText(header, `\n\n${body}\n\n`)],
    ['a whitespace-only line', `${header.join('\n')}\n \t\n${body}`],
    ['other keys', joinText([...header, 'Mood: good', 'X-Took: 3s'])],
  ])('can have %s', (_, text) => {
    expect(readTextResult(text)).toEqual({ result: fromText, problems: [] });
  });

  test('needs no body', () => {
    expect(readTextResult(header.join('\n'))).toEqual({ result: { ...fromText, summary: '' }, problems: [] });
  });

  test('does not read header keys after the blank line', () => {
    const text = joinText(header, 'Status: fail\nRunId: 2026-11-15-backend-0009');
    expect(readTextResult(text).result).toMatchObject({ status: 'ok', run_id: order.run_id });
  });

  test('has evidence, a summary line and lists', () => {
    const extraLines = [
      'Evidence: 42 passed',
      'Summary: In short',
      'BlockedBy: acme/shop#3, local#x',
      'Questions: A?; B, C?',
    ];
    expect(readTextResult(joinText([...header, ...extraLines])).result).toEqual({
      ...result,
      summary: 'In short\n\nThe basket adds up.',
      blocked_by: ['acme/shop#3', 'local#x'],
      questions: ['A?', 'B, C?'],
    });
  });

  test.each([
    ['they pass', { command: '', result: 'pass', evidence: 'they pass; 42 passed' }],
    ['=> pass', { command: '', result: 'pass', evidence: '42 passed' }],
    ['n/a', 'n/a'],
  ])('reads any other statement about tests, with its evidence: %s', (tests, expected) => {
    const text = joinText([...without('Tests'), `Tests: ${tests}`, 'Evidence: 42 passed']);
    expect(readTextResult(text).result?.tests).toEqual(expected);
  });

  test('can have n/a for the tests', () => {
    expect(readTextResult(joinText([...without('Tests'), 'Tests: n/a'])).result?.tests).toBe('n/a');
  });

  test.each([
    ['no issue', without('IssueRef'), ['KEY_MISSING issue_ref']],
    ['no run', without('RunId'), ['KEY_MISSING run_id']],
    ['an empty status', [...without('Status'), 'Status:'], ['KEY_MISSING status']],
    ['no tests', without('Tests'), ['TESTS_MISSING tests']],
    ['tests called none', [...without('Tests'), 'Tests: none'], ['TESTS_MISSING tests']],
    ['tests that were not run', [...without('Tests'), 'Tests: npm test => skipped'], ['TESTS_MISSING tests']],
    ['a command without its result', [...without('Tests'), 'Tests: npm test =>'], ['INVALID_VALUE tests']],
    [
      'no change',
      ['PR: none', 'Commit: n/a', ...header.filter((l) => !/^(PR|Commit)/.test(l))],
      ['CHANGES_MISSING changes'],
    ],
    ['a duplicate key', [...header, 'Status: ok'], ['DUPLICATE_KEY status']],
    ['a duplicate key in two spellings', [...header, 'run_id: 2026-11-15-backend-0001'], ['DUPLICATE_KEY run_id']],
    ['a line of prose', ['Hello there', ...header], ['HEADER_MALFORMED']],
    ['a continued line', [...header, '  and more'], ['HEADER_MALFORMED']],
    ['a heading', ['# Result', ...header], ['HEADER_MALFORMED']],
    ['an escape in it', [...header, 'Mood: \u001B[2Jgood'], ['HEADER_MALFORMED']],
    ['a carriage return in it', [...header, 'Mood: good\rStatus: fail'], ['HEADER_MALFORMED']],
    ['no header', [''], ['HEADER_MALFORMED']],
    ['an endless header', [...header, ...Array.from({ length: 100 }, (_, i) => `K${i}: v`)], ['HEADER_MALFORMED']],
  ])('cannot be used with %s', (_, lines, codes) => {
    expect(listCodes(joinText(lines))).toEqual(codes);
  });

  test('the readable part of a broken header becomes a draft', () => {
    expect(readTextResult(joinText(['Done!', ...header]))).toEqual({
      problems: [{ code: 'HEADER_MALFORMED', message: 'line 1 is not of the form Key: Value: Done!' }],
      draft: {
        issue_ref: order.issue_ref,
        run_id: order.run_id,
        status: 'ok',
        changes: { pr: 'https://forge.example/acme/shop/pull/7', commit: 'git:1a2b3c4d' },
        tests: 'npm test => pass',
        summary: body,
      },
    });
  });

  test('numbers the lines of the file, even after blank ones', () => {
    expect(readTextResult('\n\nDone!').problems[0]?.message).toContain('line 3 ');
  });

  test('reports a bounded number of problems', () => {
    expect(readTextResult(Array.from({ length: 99 }, () => 'prose').join('\n')).problems).toHaveLength(20);
  });

  test('returns a result or problems for arbitrary input', () => {
    const line = fc.oneof(
      fc.constantFrom(...header, '', 'prose', 'Status: fail'),
      fc.string({ unit: 'binary', maxLength: 20 }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const { result: parsed, problems } = readTextResult(lines.join('\n'));
        expect(parsed !== undefined || problems.length > 0).toBe(true);
      }),
    );
  });
});
