import { describe, expect, test } from 'vitest';
import { isSluiceError } from '../base/index.js';
import { validCases } from './fixtures/reading-cases.js';
import { lossyRepairs, wholeRepairs } from './fixtures/inside-cases.js';
import { anyTextRepairs, tolerantRepairs } from './fixtures/repair-cases.js';
import { ParseError, repairJson, type RepairJsonOptions } from './index.js';

function captureError(text: string, options?: RepairJsonOptions): ParseError {
  try {
    repairJson(text, options);
  } catch (error) {
    if (error instanceof ParseError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('returns valid JSON unchanged, character by character', () => {
  test.each([...validCases, '{ "a" : 1.0 }', '[1e5,\n\n 2]', '{"a":1,"a":2}'])('%s', (text) => {
    expect(repairJson(text)).toBe(text);
  });
});

describe("repairJson makes all of the reader's repairs", () => {
  test.each(anyTextRepairs)('$marked', ({ marked, value }) => {
    expect(JSON.parse(repairJson(marked.replaceAll('¦', '')))).toEqual(value);
  });

  /** Other repair libraries return `null` for a key without a value. */
  const agreeingCases = tolerantRepairs.filter(
    ({ kinds }) => !kinds.includes('missing_value') && !kinds.includes('truncated'),
  );

  test.each(agreeingCases)('as parse does: $marked', ({ marked, value }) => {
    expect(JSON.parse(repairJson(marked.replaceAll('¦', '')))).toEqual(value);
  });
});

describe('keeps every member and item', () => {
  test.each(wholeRepairs)('$title', ({ text, value }) => {
    expect(JSON.parse(repairJson(text))).toEqual(value);
  });
});

describe('throws if a member or item would be lost', () => {
  test.each(lossyRepairs)('%s', (_, text) => {
    expect(['SYNTAX', 'TRUNCATED', 'AMBIGUOUS']).toContain(captureError(text).code);
  });
});

describe('brackets that do not match', () => {
  test.each([
    ['a list left open before a member', '{"tags": ["a", "b", "count": 2}', { tags: ['a', 'b'], count: 2 }],
    ['a member inside a closed list', '{"tags": ["a", "count": 2]}', { tags: ['a', { count: 2 }] }],
    ['a stray bracket before a member', '{"a": "x"], "b": 2}', { a: 'x', b: 2 }],
  ])('%s', (_, text, value) => {
    expect(JSON.parse(repairJson(text))).toEqual(value);
  });
});

describe('truncated input is closed', () => {
  test.each([
    ['{"a": [1, 2', '{"a":[1,2]}'],
    ['{"a": "Hel', '{"a":"Hel"}'],
    ['{"a": 1, "b":', '{"a":1,"b":null}'],
    ['[1, 2,', '[1,2]'],
    ['{"a": {"b": [{"c": "d', '{"a":{"b":[{"c":"d"}]}}'],
    ['{"a": 12.', '{"a":12}'],
    ['{"a": "x\\u26', '{"a":"x"}'],
    ['```json\n{"a": [1', '{"a":[1]}'],
    ['Here it is: {"a": [1', '{"a":[1]}'],
  ])('%s → %s', (text, repaired) => {
    expect(repairJson(text)).toBe(repaired);
  });
});

describe('ambiguous input still becomes JSON', () => {
  test.each([
    ['a missing value is null', '{"a": }', '{"a":null}'],
    ['a missing value before a comma is null', '{"a": , "b": 1}', '{"a":null,"b":1}'],
    ['a bare word is a string', 'hello', '"hello"'],
    ['a bare value is a string', '{a: b}', '{"a":"b"}'],
    ['NDJSON is an array', '{"a": 1}\n{"a": 2}\n', '[{"a":1},{"a":2}]'],
    ['values with commas between them are an array', '{"a": 1},\n{"a": 2}', '[{"a":1},{"a":2}]'],
    ['a function call is stripped', 'callback({"a": 1});', '{"a":1}'],
    ['database shell types are stripped', '{"id": ObjectId("x"), "n": NumberLong(5)}', '{"id":"x","n":5}'],
    ['Python literals', '[None, True, False]', '[null,true,false]'],
    ['undefined is null', '{"a": undefined}', '{"a":null}'],
    ['comments are removed', '{"a": 1 /* x */, // y\n"b": 2}', '{"a":1,"b":2}'],
    ['escaped quotes', '{\\"a\\": \\"b\\"}', '{"a":"b"}'],
    ['text before the value is removed', 'Sure! Here you go: {"a": 1,}', '{"a":1}'],
    ['a fence is stripped', '```json\n{"a": 1,}\n```', '{"a":1}'],
    ['thinking is stripped', '<think>{"x": 0}</think>{"a": 1,}', '{"a":1}'],
  ])('%s', (_, text, repaired) => {
    expect(repairJson(text)).toBe(repaired);
  });
});

describe('how the result is serialized', () => {
  test('compact, keys in order', () => {
    expect(repairJson("{ 'b' : 1 , 'a' : [ 1 , 2 ] , }")).toBe('{"b":1,"a":[1,2]}');
  });

  test.each([
    ['{id: 12345678901234567890}', '{"id":12345678901234567890}'],
    ['[0.1000000000000000055511151231257827,]', '[0.1000000000000000055511151231257827]'],
    ['[1e400,]', '[1e400]'],
    ['[-9007199254740993,]', '[-9007199254740993]'],
    ['[1.0,]', '[1]'],
  ])('numbers that a double cannot represent keep their digits: %s', (text, repaired) => {
    expect(repairJson(text)).toBe(repaired);
  });

  test('control characters are escaped', () => {
    expect(repairJson('{"a": "x\n\ty"}')).toBe('{"a":"x\\n\\ty"}');
  });

  test('a lone surrogate is escaped', () => {
    expect(repairJson("['\ud83d']")).toBe('["\\ud83d"]');
  });

  test('__proto__ is an ordinary key', () => {
    expect(repairJson('{__proto__: {a: 1}}')).toBe('{"__proto__":{"a":1}}');
  });

  test('duplicate keys: the last value counts', () => {
    expect(repairJson('{a: 1, a: 2}')).toBe('{"a":2}');
  });
});

describe('throws if nothing can be repaired', () => {
  test.each([
    ['', 'EMPTY_INPUT'],
    [' \n ', 'EMPTY_INPUT'],
    ['}', 'SYNTAX'],
    [':', 'SYNTAX'],
    ['{: 1}', 'SYNTAX'],
  ])('%j is %s', (text, code) => {
    expect(captureError(text).code).toBe(code);
  });

  test('the error is a SluiceError with the offset, and does not repeat the input', () => {
    const error = captureError(`}${'secret '.repeat(100)}`);
    expect(isSluiceError(error)).toBe(true);
    expect(error.message).toMatch(/offset \d+/);
    expect(error.message.length).toBeLessThan(200);
  });

  test('respects the limits', () => {
    expect(captureError('[[[1,]]]', { limits: { depth: 2 } }).code).toBe('LIMIT_EXCEEDED');
    expect(captureError('[[[1]]]', { limits: { depth: 2 } }).code).toBe('LIMIT_EXCEEDED');
    expect(captureError('{"a": "long",}', { limits: { bytes: 5 } }).code).toBe('LIMIT_EXCEEDED');
    expect(repairJson('[[[1,]]]', { limits: { depth: 3 } })).toBe('[[[1]]]');
  });
});
