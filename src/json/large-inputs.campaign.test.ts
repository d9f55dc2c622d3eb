import { describe, expect, test } from 'vitest';
import { expectError, expectSuccess } from './fixtures/outcome.js';
import { withFields } from './fixtures/schemas.js';
import { createJsonStream, parse, PARSE_ERROR_CODES, ParseError, type ParseResult, repairJson } from './index.js';

const MEGABYTE = 1024 * 1024;

function hasTypedOutcome(result: ParseResult<unknown>): boolean {
  return result.ok || result.status === 'comment' || PARSE_ERROR_CODES.includes(result.error.code);
}

/** Valid JSON, or undefined if the input cannot be repaired. Any error other than a ParseError fails the test. */
function repairToValue(text: string, depth: number): unknown {
  try {
    return JSON.parse(repairJson(text, { limits: { depth } }));
  } catch (error) {
    if (error instanceof ParseError) return undefined;
    throw error;
  }
}

describe('large input yields a value or a typed error', () => {
  // The regular expression engine's stack overflows after a few million characters, so this uses the longest accepted
  // input.
  test.each([
    ['words', 'a ', '['],
    ['a word', 'aa', '['],
    ['a key', 'a ', '{'],
  ])('parse: 16 MB of %s without quotes', (_, part, before) => {
    expect(hasTypedOutcome(parse(before + part.repeat(8 * MEGABYTE)))).toBe(true);
  });

  test('a megabyte of line breaks in a string without an end quote', () => {
    expect(expectError(parse(`{"a": "${'\n'.repeat(MEGABYTE)}:x}`)).code).toBe('TRUNCATED');
  });

  test.each([
    ['emoji, each chunk ending with half of one', `{"a": "${'😀'.repeat(MEGABYTE / 2)}`],
    ['letters in a network path', `{"a": "\\\\${'a'.repeat(MEGABYTE / 8)}`],
    ['spaces after an underscore', `{_${' '.repeat(MEGABYTE / 8)}`],
  ])('a stream of %s in small chunks ends like the whole input', (_, text) => {
    const stream = createJsonStream();
    for (let at = 0; at < text.length; at += 8) stream.push(text.slice(at, at + 8));
    expect(stream.end()).toEqual(parse(text));
  });

  test('10 MB of an unclosed string', () => {
    const text = `{"a": "${'text '.repeat(2 * MEGABYTE)}`;
    expect(expectError(parse(text)).code).toBe('TRUNCATED');
    expect(expectSuccess(parse(text, undefined, { allowPartial: true })).value).toEqual({ a: text.slice(7) });
  });
});

describe('depth beyond the limit is LIMIT_EXCEEDED, not a stack overflow', () => {
  test.each([
    ['valid arrays', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['valid objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['valid arrays in prose', `Look: ${'['.repeat(100_000)}${']'.repeat(100_000)} there`],
    ['valid objects in a tag', `<json>${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}</json>`],
    ['broken arrays', `${'['.repeat(100_000)}1,${']'.repeat(100_000)}`],
    ['unclosed arrays', '['.repeat(200_000)],
    ['unclosed objects', '{"a":'.repeat(200_000)],
  ])('%s, with and without a schema, whole or partial', (_, text) => {
    for (const schema of [undefined, withFields('a')]) {
      for (const allowPartial of [false, true])
        expect(expectError(parse(text, schema, { allowPartial })).code).toBe('LIMIT_EXCEEDED');
    }
    expect(() => repairJson(text)).toThrow(ParseError);
  });

  test('honours a raised limit without a stack overflow', () => {
    const text = '['.repeat(50_000) + ']'.repeat(50_000);
    expect(parse(text, undefined, { limits: { depth: 50_000 } }).ok).toBe(true);
    expect(parse(`x ${text}`, undefined, { limits: { depth: 50_000 } }).ok).toBe(true);
    expect(hasTypedOutcome(parse(`${text},`, undefined, { limits: { depth: 50_000 } }))).toBe(true);
    expect(() => repairToValue(`${text},`, 50_000)).not.toThrow();
  });
});

describe('a value in large input', () => {
  test.each([
    ['prose', 'The quick brown fox jumps over the lazy dog. '],
    ['log lines', '[INFO] worker {id} did a[0] in (3 ms)\n'],
    ['code', 'if (a[i] < 10) { return "x"; } // {note}\n'],
    ['broken quotes', 'He said "so and left. '],
    ['Markdown', '- [ ] see [the manual](https://example.org/{id}) [1]\n'],
  ])('finds one object in a megabyte of %s', (_, noise) => {
    const haystack = noise.repeat(Math.ceil(MEGABYTE / 2 / noise.length));
    const text = `${haystack}\n{"wanted": {"a": [1, 2]}}\n${haystack}`;
    expect(expectSuccess(parse(text, withFields('wanted'))).value).toEqual({ wanted: { a: [1, 2] } });
  });
});
