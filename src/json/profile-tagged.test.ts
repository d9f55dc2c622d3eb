import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { expectComment, expectError, listRepairKinds, expectSuccess, listWarnings } from './fixtures/outcome.js';
import { parse, parseOrThrow, type ParseResult } from './index.js';

/** The document's `AnalysisResult`, field by field. */
const AnalysisResult = z.object({
  issues: z.array(
    z.object({
      file: z.string().min(1),
      line: z.int().min(1),
      severity: z.enum(['critical', 'high', 'medium', 'low']),
      message: z.string().min(1),
    }),
  ),
});

function parseTagged(raw: string, allowPartial = false): ParseResult<unknown> {
  return parse(raw, undefined, { profile: 'tagged', allowPartial });
}

describe('profile tagged', () => {
  test('the content of the tag is the value, unchanged', () => {
    const result = parseTagged('<thinking>...</thinking><json>{"a":1}</json>');
    expect(result).toMatchObject({ ok: true, value: { a: 1 }, repairLevel: 'none', repairs: [], warnings: [] });
  });

  test('the value is found after thinking with an unfinished string', () => {
    const result = parseTagged('<thinking>It starts with {"a: and then</thinking><json>{"a":1}</json>');
    expect(result).toMatchObject({ ok: true, value: { a: 1 }, repairLevel: 'none' });
  });

  test('the candidate is the content between the tags', () => {
    const { candidate } = expectSuccess(parseTagged('<thinking>...</thinking><json>{"a":1}</json>'));
    expect(candidate).toEqual({ finder: 'tag', start: 30, end: 37 });
  });

  test('finds the value in prose and repairs the trailing comma', () => {
    const result = parseTagged('Sure, here is the json: <json> { "a": 1, } </json> Hope this helps!');
    expect(expectSuccess(result)).toMatchObject({ value: { a: 1 }, repairLevel: 'deterministic_generic' });
    expect(listRepairKinds(result)).toContain('extra_comma');
    expect(listWarnings(result)).toEqual(['OUTPUT_REPAIRED_GENERIC']);
  });

  test('truncated with allowPartial: the value is closed, recorded and warned about', () => {
    const result = parseTagged('<json>{"a":1', true);
    expect(expectSuccess(result).value).toEqual({ a: 1 });
    expect(listRepairKinds(result)).toContain('truncated');
    expect(listWarnings(result)).toEqual(['OUTPUT_REPAIRED_GENERIC', 'PARTIAL_VALUE']);
  });

  test.each([
    ['inside a string', '{"a":"tex', { a: 'tex' }],
    ['inside a list', '[1, [2', [1, [2]]],
  ])('truncated %s: closed with allowPartial, otherwise an error', (_, content, value) => {
    expect(expectSuccess(parseTagged(`<json>${content}`, true)).value).toEqual(value);
    expect(expectError(parseTagged(`<json>${content}`)).code).toBe('TRUNCATED');
  });

  test('truncated without allowPartial is an error', () => {
    expect(expectError(parseTagged('<json>{"a":1')).code).toBe('TRUNCATED');
  });

  test('without a tag the whole raw output is a comment, with a warning', () => {
    const raw = '  I looked at everything.\nThere is nothing to report.\n';
    const result = parseTagged(raw);
    expect(expectComment(result)).toMatchObject({ ok: false, status: 'comment', comment: raw, repairLevel: 'none' });
    expect(listWarnings(result)).toEqual(['OUTPUT_DEGRADED_TO_COMMENT']);
  });

  test.each([
    '{"a":1}',
    '```json\n{"a":1}\n```',
    'The answer is {"a":1}.',
    '<JSONP>{"a":1}</JSONP>',
    'json>{"a":1}</json>',
  ])('JSON outside a tag is part of the comment: %s', (raw) => {
    expect(expectComment(parseTagged(raw)).comment).toBe(raw);
  });

  test('a comment is NO_JSON if a value is required', () => {
    expect(() => parseOrThrow('no tag', undefined, { profile: 'tagged', label: 'review' })).toThrow(
      expect.objectContaining({ code: 'NO_JSON', message: expect.stringContaining('review') }),
    );
  });
});

describe('profile tagged: which block', () => {
  test('uses the last of several blocks', () => {
    const raw = '<json>{"draft":1}</json> better: <json>{"draft":2}</json> best: <json>{"draft":3}</json> done';
    expect(expectSuccess(parseTagged(raw)).value).toEqual({ draft: 3 });
  });

  test('the last block is the only candidate, even if an earlier one matches the schema', () => {
    const raw = '<json>{"issues":[]}</json><json>{"other":true}</json>';
    const error = expectError(parse(raw, AnalysisResult, { profile: 'tagged' }));
    expect(error.code).toBe('SCHEMA_MISMATCH');
    expect(error.attempts).toHaveLength(1);
  });

  test('the content can span many lines', () => {
    const result = parseTagged('<json>\n{\n  "a": [\n    1,\n    2\n  ]\n}\n</json>');
    expect(expectSuccess(result)).toMatchObject({ value: { a: [1, 2] }, repairLevel: 'none' });
  });

  test('the content can have blank lines', () => {
    expect(expectSuccess(parseTagged('<json>\n{\n\n"a": 1,\r\n\r\n"b": 2}\n</json>')).value).toEqual({ a: 1, b: 2 });
  });

  test('without a closing tag the last block is read to the end of the input', () => {
    expect(expectSuccess(parseTagged('Thinking done. <json>{"a": [1, 2]}')).value).toEqual({ a: [1, 2] });
  });

  test('an unclosed block counts as extracted', () => {
    expect(expectSuccess(parseTagged('<json>{"a":1}')).repairLevel).toBe('deterministic_generic');
  });

  test('an unclosed last block wins over a closed earlier one', () => {
    const raw = '<json>{"a":1}</json> again: <json>{"a":2}';
    expect(expectSuccess(parseTagged(raw)).value).toEqual({ a: 2 });
  });

  test('does not fall back to an earlier block if the unclosed last one is truncated', () => {
    expect(expectError(parseTagged('<json>{"a":1}</json> again: <json>{"a":')).code).toBe('TRUNCATED');
  });

  test.each([
    'I put it in <json> tags.',
    'I put it in "<json>" tags.',
    '答案放在 <json> 标签里。',
    'I put it in `<json>` tags.',
    'It stands between <json> and </json>.',
    'It stands between "<json>" and "</json>".',
    'That is why I used <json>',
  ])('a tag that is only mentioned after the answer falls back to the last closed block: %s', (words) => {
    const raw = `<json>{"a":0}</json><json>{"a":1}</json>\n${words}`;
    expect(expectSuccess(parseTagged(raw))).toMatchObject({ value: { a: 1 }, repairLevel: 'none' });
  });

  test('a truncated block stays the last one, even if a tag is mentioned after it', () => {
    const raw = '<json>{"a":1}</json> again: <json>{"a": I wrote it in <json> tags';
    expect(parseTagged(raw).ok).toBe(false);
  });

  test.each(['{"a":', '[', '"te', '```json\n{"a"', '-1'])(
    'never uses an older block instead of a truncated one: %s',
    (cut) => {
      expect(parseTagged(`<json>{"a":1}</json> <json>${cut}`)).not.toMatchObject({ value: { a: 1 } });
    },
  );

  test('a tag inside the thinking is not the answer', () => {
    const raw = '<thinking>I could say <json>{"a":0}</json> but no.</thinking><json>{"a":1}</json>';
    expect(expectSuccess(parseTagged(raw)).value).toEqual({ a: 1 });
  });

  test('a tag only inside the thinking does not count', () => {
    expect(parseTagged('<thinking>maybe <json>{"a":0}</json></thinking> I cannot tell.').status).toBe('comment');
  });

  test('a closing tag inside a string does not end the block', () => {
    const raw = '<json>{"text": "ends with </json> here", "n": 1}</json>';
    expect(expectSuccess(parseTagged(raw)).value).toEqual({ text: 'ends with </json> here', n: 1 });
  });

  test('an opening tag inside a string does not start a block', () => {
    const raw = '<json>{"text": "the <json> tag", "n": 1}</json>';
    expect(expectSuccess(parseTagged(raw)).value).toEqual({ text: 'the <json> tag', n: 1 });
  });

  test('an array is an answer too', () => {
    expect(expectSuccess(parseTagged('<json>[1, 2]</json>')).value).toEqual([1, 2]);
  });

  test('empty input is EMPTY_INPUT, not an empty comment', () => {
    expect(expectError(parseTagged(' \n ')).code).toBe('EMPTY_INPUT');
  });

  test('a tag that contains prose is an error, not a comment', () => {
    expect(expectError(parseTagged('<json>sorry, I have nothing</json>')).code).toMatch(/SYNTAX|NO_JSON/);
  });
});

describe('profile tagged: fault tolerance', () => {
  test.each([
    ['Trailing Commas', '[1, 2,]', [1, 2], 'extra_comma'],
    ['Trailing Commas in an object', '{"a": [1,], "b": 2,}', { a: [1], b: 2 }, 'extra_comma'],
    ['Missing Quotes', '{key: "val"}', { key: 'val' }, 'unquoted_key'],
    ['Missing Quotes around a value', '{"severity": high}', { severity: 'high' }, 'unquoted_string'],
    ['Markdown Pollution by emphasis', '{__"a"__: **1**}', { a: 1 }, 'markdown'],
    ['Markdown Pollution around', '```json\n{"a": 1}\n```', { a: 1 }, 'markdown'],
    ['Markdown Pollution at the end', '{"a": 1}\n```', { a: 1 }, 'markdown'],
    ['Markdown Pollution inside', '{"a": 1,\n```\n"b": 2}', { a: 1, b: 2 }, 'markdown'],
  ])('%s', (_, content, value, kind) => {
    const result = parseTagged(`<json>${content}</json>`);
    expect(expectSuccess(result).value).toEqual(value);
    expect(listRepairKinds(result)).toContain(kind);
    expect(expectSuccess(result).repairLevel).toBe('deterministic_generic');
  });

  test('Markdown inside a string is content', () => {
    const raw = '<json>{"fix": "```ts\\nlet a;\\n```"}</json>';
    expect(expectSuccess(parseTagged(raw))).toMatchObject({
      value: { fix: '```ts\nlet a;\n```' },
      repairLevel: 'none',
    });
  });
});

describe('profile tagged: a contract with issues', () => {
  const issue = { file: 'src/main.go', line: 12, severity: 'high', message: 'unchecked error' };
  const tagged = (value: unknown): string => `<thinking>hm</thinking>\n<json>\n${JSON.stringify(value)}\n</json>`;

  test.each([
    ['an issue with all fields', { issues: [issue] }],
    ['no issues at all', { issues: [] }],
    ['the first line', { issues: [{ ...issue, line: 1 }] }],
    ['severity critical', { issues: [{ ...issue, severity: 'critical' }] }],
    ['severity medium', { issues: [{ ...issue, severity: 'medium' }] }],
    ['severity low', { issues: [{ ...issue, severity: 'low' }] }],
  ])('accepts %s', (_, value) => {
    expect(expectSuccess(parse(tagged(value), AnalysisResult, { profile: 'tagged' })).value).toEqual(value);
  });

  test.each([
    ['file is missing', { line: 1, severity: 'low', message: 'm' }, ['issues', 0, 'file']],
    ['file is empty', { ...issue, file: '' }, ['issues', 0, 'file']],
    ['line is 0', { ...issue, line: 0 }, ['issues', 0, 'line']],
    ['line is negative', { ...issue, line: -3 }, ['issues', 0, 'line']],
    ['line is a fraction', { ...issue, line: 1.5 }, ['issues', 0, 'line']],
    ['line is text', { ...issue, line: '12' }, ['issues', 0, 'line']],
    ['severity is not one of the four', { ...issue, severity: 'urgent' }, ['issues', 0, 'severity']],
    ['severity is missing', { file: 'f', line: 1, message: 'm' }, ['issues', 0, 'severity']],
    ['message is missing', { file: 'f', line: 1, severity: 'low' }, ['issues', 0, 'message']],
    ['message is empty', { ...issue, message: '' }, ['issues', 0, 'message']],
  ])('rejects an issue whose %s, and reports its path', (_, broken, path) => {
    const error = expectError(parse(tagged({ issues: [broken] }), AnalysisResult, { profile: 'tagged' }));
    expect(error.code).toBe('SCHEMA_MISMATCH');
    expect(error.issues?.map((found) => found.path)).toContainEqual(path);
    expect(error.message).toContain(path.join('.'));
  });

  test('rejects a second issue without a file, and reports its path', () => {
    const value = { issues: [issue, { line: 1, severity: 'low', message: 'm' }] };
    const error = expectError(parse(tagged(value), AnalysisResult, { profile: 'tagged' }));
    expect(error.issues?.map(({ path }) => path)).toEqual([['issues', 1, 'file']]);
  });

  test('rejects a value without issues', () => {
    expect(expectError(parse(tagged({}), AnalysisResult, { profile: 'tagged' })).issues?.[0]?.path).toEqual(['issues']);
  });
});

describe('profile tagged: several megabytes of thinking', () => {
  const thought = 'Let me consider {"a": [1, 2 and the <b>case</b> "where" it fails… 让我想想。\n';
  const thinking = thought.repeat(Math.ceil((4 * 1024 * 1024) / thought.length));
  const answer = '<json>{"issues":[{"file":"a.go","line":3,"severity":"low","message":"m"}]}</json>';

  test.each([
    ['in a thinking block', `<thinking>\n${thinking}</thinking>\n\n${answer}`],
    ['without any block', `${thinking}\n${answer}`],
    ['with drafts in tags', `<thinking>${`${thought}<json>{"issues": 0}</json>`.repeat(20_000)}</thinking>${answer}`],
  ])('%s, and the tag after it is found', (_, raw) => {
    const result = parse(raw, AnalysisResult, { profile: 'tagged' });
    expect(expectSuccess(result)).toMatchObject({
      repairLevel: 'none',
      value: { issues: [{ file: 'a.go', line: 3 }] },
    });
    expect(expectSuccess(result).candidate.end).toBe(raw.length - '</json>'.length);
  });
});
