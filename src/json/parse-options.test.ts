import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { expectError, listRepairKinds, expectSuccess, listWarnings } from './fixtures/outcome.js';
import { alignableCount, withFields } from './fixtures/schemas.js';
import { parse } from './index.js';

const A = withFields('a');

describe('ambiguous chooses by position where nothing decides', () => {
  const text = 'First {"a": 1}, then {"a": 2} and {"a": 3}.';

  test.each([
    ['first', 1],
    ['last', 3],
  ] as const)('%s', (ambiguous, a) => {
    expect(expectSuccess(parse(text, A, { ambiguous })).value).toEqual({ a });
  });

  test('values that fail the schema do not count', () => {
    expect(expectSuccess(parse('{"a": 1} {"a": 2} {"b": 3}', A, { ambiguous: 'last' })).value).toEqual({ a: 2 });
  });

  test('a value in an envelope is found too', () => {
    expect(expectSuccess(parse('{"text": "{\\"a\\": 1}"}', A, { ambiguous: 'last' })).value).toEqual({ a: 1 });
  });
});

describe('rounds over all candidates: unchanged, completed, aligned', () => {
  test('prefers a complete candidate to an earlier truncated one', () => {
    const text = 'x {"a": 1} y <json>{"a": 2';
    expect(expectSuccess(parse(text, A, { allowPartial: true })).value).toEqual({ a: 1 });
  });

  test('without allowPartial a truncated value is TRUNCATED', () => {
    const { code, message } = expectError(parse('{"a": [1, 2', A));
    expect(code).toBe('TRUNCATED');
    expect(message).toContain(
      '(offset 11). Raise the output limit, ask for less, or set allowPartial (--allow-partial).',
    );
  });

  test.each([
    ['an incomplete string', '{"a": "Hello wor', { a: 'Hello wor' }],
    ['a number that is valid so far', '{"a": 12', { a: 12 }],
    ['a number without its unfinished exponent', '{"a": 1.5e', { a: 1.5 }],
    ['a number without its unfinished fraction', '{"a": 3.', { a: 3 }],
    ['no truncated literal', '{"a": 1, "b": tru', { a: 1 }],
    ['no sign without digits', '{"a": 1, "b": -', { a: 1 }],
    ['no key without a value', '{"a": 1, "b":', { a: 1 }],
    ['no key without a colon', '{"a": 1, "b"', { a: 1 }],
    ['no truncated key', '{"a": 1, "some_ke', { a: 1 }],
    ['no partial escape', '{"a": "x\\u00', { a: 'x' }],
    ['no half a character', '{"a": "x\\ud83d', { a: 'x' }],
    ['no lone backslash', '{"a": "x\\', { a: 'x' }],
    ['open containers, however deep', '{"a": [{"b": [[1, {"c": "d', { a: [{ b: [[1, { c: 'd' }]] }] }],
    ['an array with a truncated literal', '{"a": [true, fal', { a: [true] }],
    ['a container that has only just started', '{"a": {', { a: {} }],
    ['a value after a comma', '{"a": 1,', { a: 1 }],
  ])('allowPartial keeps %s', (_, text, value) => {
    const result = parse(text, undefined, { allowPartial: true });
    expect(expectSuccess(result).value).toEqual(value);
    expect(listRepairKinds(result)).toContain('truncated');
    expect(listWarnings(result)).toContain('PARTIAL_VALUE');
  });

  test('allowPartial does not change a complete value', () => {
    expect(expectSuccess(parse('{"a": 1}', A, { allowPartial: true }))).toMatchObject({
      repairLevel: 'none',
      warnings: [],
    });
  });

  test('align converts a near miss, records each change and warns', () => {
    const result = parse('{"count": "7"}', alignableCount, { align: true });
    expect(result).toMatchObject({ ok: true, value: { count: 7 }, repairLevel: 'schema_aligned', repairs: [] });
    expect(expectSuccess(result).alignment).toEqual([{ path: ['count'], rule: 'string_to_number', from: '7', to: 7 }]);
    expect(listWarnings(result)).toEqual(['OUTPUT_ALIGNED_TO_SCHEMA']);
  });

  test('a candidate that passes unchanged wins over one that must be aligned', () => {
    const result = parse('first {"count": "7"} then {"count": 8}', alignableCount, { align: true });
    expect(expectSuccess(result)).toMatchObject({ value: { count: 8 }, alignment: [] });
  });

  test('without align a near miss fails', () => {
    expect(expectError(parse('{"count": "7"}', alignableCount)).code).toBe('SCHEMA_MISMATCH');
  });

  test('completes a truncated value before it is aligned', () => {
    const result = parse('{"count": "7', alignableCount, { align: true, allowPartial: true });
    expect(expectSuccess(result)).toMatchObject({ value: { count: 7 }, repairLevel: 'schema_aligned' });
    expect(listWarnings(result)).toEqual(['OUTPUT_REPAIRED_GENERIC', 'OUTPUT_ALIGNED_TO_SCHEMA', 'PARTIAL_VALUE']);
  });

  test('align with a schema that does not support it is misuse', () => {
    expect(() => parse('{"a": 1}', A, { align: true })).toThrow(expect.objectContaining({ code: 'ALIGN_UNSUPPORTED' }));
  });
});

describe('limits', () => {
  test('bytes: counted in UTF-8, accepted at the limit, refused beyond it', () => {
    const text = '{"a": "é汉😀"}';
    const bytes = new TextEncoder().encode(text).length;
    expect(parse(text, A, { limits: { bytes } }).ok).toBe(true);
    const error = expectError(parse(text, A, { limits: { bytes: bytes - 1 } }));
    expect(error.code).toBe('LIMIT_EXCEEDED');
    expect(error.message).toContain('limits.bytes');
  });

  test.each(['{"a": {"b": [1]}}', 'x {"a": {"b": [1,]}} y', "{a: {b: ['c']}}"])(
    'depth: accepted at the limit, refused beyond it: %s',
    (text) => {
      expect(parse(text, A, { limits: { depth: 3 } }).ok).toBe(true);
      expect(expectError(parse(text, A, { limits: { depth: 2 } })).code).toBe('LIMIT_EXCEEDED');
    },
  );

  test('depth: 1000 by default', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(parse(nested(1000)).ok).toBe(true);
    expect(expectError(parse(nested(1001))).code).toBe('LIMIT_EXCEEDED');
  });

  test('candidates: beyond the limit the search ends with LIMIT_EXCEEDED', () => {
    const text = `${'x {"b": 1} '.repeat(5)} {"a": 1}`;
    expect(expectSuccess(parse(text, A, { limits: { candidates: 20 } })).value).toEqual({ a: 1 });
    const error = expectError(parse(text, A, { limits: { candidates: 5 } }));
    expect(error.code).toBe('LIMIT_EXCEEDED');
    expect(error.message).toContain('limits.candidates');
    expect(error.attempts.length).toBeLessThanOrEqual(5);
  });

  test('candidates: 256 by default', () => {
    const error = expectError(parse('x {"b": 1} '.repeat(400), A));
    expect(error.code).toBe('LIMIT_EXCEEDED');
    expect(error.attempts.length).toBeLessThanOrEqual(256);
  });
});

describe('numbers', () => {
  const text =
    '{"id": 12345678901234567890, "pi": 3.14159265358979323846, "n": 9007199254740993, "ok": 0.1, "big": 1e400}';

  test('double: reads numbers like JSON.parse', () => {
    expect(expectSuccess(parse(text)).value).toEqual(JSON.parse(text));
  });

  test.each<[string, readonly (string | number)[] | undefined]>([
    ['{"id": 9007199254740993}', ['id']],
    ['{"list": [1, {"big": 1e400}]}', ['list', 1, 'big']],
    ['[-9007199254740993]', [0]],
    ['9007199254740993', []],
    ['The answer:\n```json\n{"id": 12345678901234567890,}\n```', ['id']],
    ['{"response": "{\\"id\\": 12345678901234567890}"}', ['id']],
    ['{"id": 9007199254740991, "pi": 3.14159265358979323846, "small": 1e-400, "text": "9007199254740993"}', undefined],
  ])('double: %s warns about the first inexact number', (json, path) => {
    const { warnings } = expectSuccess(parse(json, json.includes('response') ? withFields('id') : undefined));
    const found = warnings.filter(({ code }) => code === 'INEXACT_NUMBER');
    expect(found.map((warning) => warning.path)).toEqual(path === undefined ? [] : [path]);
  });

  test.each<[string, string, readonly (string | number)[] | undefined]>([
    ['an integer beyond 2^53', '{"list": [{"id": 1}, {"id": 9007199254740993, "other": 1e400}]}', ['list', 1, 'id']],
    ['an infinite number', '{"a": [[], [2, 1e400]], "b": 9007199254740993}', ['a', 1, 1]],
    ['a number with few digits and a short exponent', '{"n": 1e22}', undefined],
    ['many digits in a string only', '{"n": "9007199254740993"}', undefined],
  ])('double: a long input with %s', (_, json, path) => {
    const padded = json.replace(/\}$/, `, "filler": "${'x'.repeat(3000)}"}`);
    const found = expectSuccess(parse(padded)).warnings.filter(({ code }) => code === 'INEXACT_NUMBER');
    expect(found.map((warning) => warning.path)).toEqual(path === undefined ? [] : [path]);
  });

  test('double: searches deep values for inexact numbers without a stack overflow', () => {
    const createNested = (depth: number): string => `${'['.repeat(depth)}9007199254740993${']'.repeat(depth)}`;
    const limits = { depth: 100_000 };
    expect(expectSuccess(parse(createNested(4000), undefined, { limits })).warnings[0]?.path).toHaveLength(4000);
    expect(expectSuccess(parse(createNested(50_000), undefined, { limits })).warnings).toEqual([]);
  });

  test('bigint and raw: no warning if every digit is kept', () => {
    const json = '{"id": 12345678901234567890}';
    for (const numbers of ['bigint', 'raw'] as const)
      expect(expectSuccess(parse(json, undefined, { numbers })).warnings).toEqual([]);
    expect(expectSuccess(parse(text, undefined, { numbers: 'raw' })).warnings).toEqual([]);
    expect(expectSuccess(parse(text, undefined, { numbers: 'bigint' })).warnings).toMatchObject([{ path: ['big'] }]);
  });

  test('bigint: integers that a double cannot represent, all others as doubles', () => {
    expect(expectSuccess(parse(text, undefined, { numbers: 'bigint' })).value).toEqual({
      id: 12345678901234567890n,
      pi: Math.PI,
      n: 9007199254740993n,
      ok: 0.1,
      big: Infinity,
    });
  });

  test('raw: numbers that a double cannot represent as source text, all others as doubles', () => {
    expect(expectSuccess(parse(text, undefined, { numbers: 'raw' })).value).toEqual({
      id: '12345678901234567890',
      pi: '3.14159265358979323846',
      n: '9007199254740993',
      ok: 0.1,
      big: '1e400',
    });
  });

  test.each(['{"id": 12345678901234567890}', '1| {\n2|   "id": 12345678901234567890,\n3| }'])(
    'bigint: a result is serialized with the digits as a string: %j',
    (json) => {
      const result = expectSuccess(parse(json, undefined, { numbers: 'bigint' }));
      expect(JSON.parse(JSON.stringify(result))).toMatchObject({ ok: true, value: { id: '12345678901234567890' } });
      expect(Object.keys(result)).not.toContain('toJSON');
    },
  );

  test.each(['bigint', 'raw'] as const)('%s: leaves valid JSON unchanged', (numbers) => {
    const outcome = expectSuccess(parse(text, undefined, { numbers }));
    expect(outcome).toMatchObject({ repairLevel: 'none', repairs: [] });
    expect(outcome.warnings.some(({ code }) => !/^(?:INEXACT|SUSPECT)/.test(code))).toBe(false);
  });

  test.each([
    ['[9007199254740991, -9007199254740991]', [9007199254740991, -9007199254740991]],
    ['[9007199254740992, 18014398509481984]', [9007199254740992, 18014398509481984]],
    ['[100000000000000000000]', [100000000000000000000]],
    ['[1.0, 1.50, 0.10000000000000000000, 2e3]', [1, 1.5, 0.1, 2000]],
    ['[-0]', [-0]],
  ])('keeps a number that a double represents exactly as a double: %s', (numbers, value) => {
    expect(expectSuccess(parse(numbers, undefined, { numbers: 'bigint' })).value).toEqual(value);
    expect(expectSuccess(parse(numbers, undefined, { numbers: 'raw' })).value).toEqual(value);
  });

  test('also preserves them in broken JSON', () => {
    expect(expectSuccess(parse('x {id: 12345678901234567890,}', undefined, { numbers: 'bigint' })).value).toEqual({
      id: 12345678901234567890n,
    });
  });
});

describe('duplicate keys', () => {
  test('the last value counts; the tolerant reader warns with key, offset and path', () => {
    const result = parse('{"x": {"a": 1, "a": 2,}}');
    expect(expectSuccess(result).value).toEqual({ x: { a: 2 } });
    expect(result.warnings).toContainEqual(
      expect.objectContaining({ code: 'DUPLICATE_KEY', offset: 15, path: ['x', 'a'] }),
    );
  });

  test('reads valid JSON on the fast path without a warning unless detectDuplicates is set', () => {
    expect(listWarnings(parse('{"a": 1, "a": 2}'))).toEqual([]);
    const result = parse('{"a": 1, "a": 2}', undefined, { detectDuplicates: true });
    expect(expectSuccess(result)).toMatchObject({ value: { a: 2 }, repairLevel: 'none', repairs: [] });
    expect(listWarnings(result)).toEqual(['DUPLICATE_KEY']);
  });

  test('the same key in different objects is not a duplicate', () => {
    expect(listWarnings(parse('[{"a": 1}, {"a": {"a": 2}}]', undefined, { detectDuplicates: true }))).toEqual([]);
  });

  test('the number of warnings is bounded', () => {
    const text = `{${Array.from({ length: 5000 }, () => '"a": 1').join(',')}}`;
    expect(parse(text, undefined, { detectDuplicates: true }).warnings.length).toBeLessThanOrEqual(101);
  });
});

describe('allowPartial drops the unfinished last item when only that fails the schema', () => {
  const Order = z.object({ id: z.number(), items: z.array(z.object({ name: z.string(), price: z.number() })) });
  const head = '{"id": 1, "items": [{"name": "a", "price": 1}';
  const partial = { allowPartial: true };

  test('an object that was truncated', () => {
    const result = expectSuccess(parse(`${head}, {"name": "b"`, Order, partial));
    expect(result.value).toEqual({ id: 1, items: [{ name: 'a', price: 1 }] });
    expect(listWarnings(result)).toContain('PARTIAL_VALUE');
  });

  test('a truncated item in a list inside it', () => {
    const Tagged = z.array(z.object({ tags: z.array(z.string()), n: z.number() }));
    const text = '[{"tags": ["x"], "n": 1}, {"tags": ["y", "z"';
    expect(expectSuccess(parse(text, Tagged, partial)).value).toEqual([{ tags: ['x'], n: 1 }]);
  });

  test('not if the item was finished: it is invalid, not unfinished', () => {
    expect(parse(`${head}, {"name": "b"}`, Order, partial).ok).toBe(false);
    expect(parse(`${head}, {"name": "b"}, {"name": "c", "price": 3`, Order, partial).ok).toBe(false);
  });

  test('not if something else fails too', () => {
    expect(parse(`{"id": "x", "items": [{"name": "b"`, Order, partial).ok).toBe(false);
  });

  test('not if the list requires the item', () => {
    const AtLeastOne = z.object({ items: z.array(z.object({ name: z.string(), price: z.number() })).min(1) });
    expect(parse('{"items": [{"name": "b"', AtLeastOne, partial).ok).toBe(false);
  });
});

describe('reports the error of the candidate closest to the schema', () => {
  const Person = z.object({ name: z.string(), age: z.number(), city: z.string() });

  test('with the fewest issues, anywhere in the input', () => {
    const error = expectError(
      parse('{"x": 1}, then {"name": "Ann", "age": "30", "city": "Rome"}, then {"y": 2}', Person),
    );
    expect(error.issues?.map(({ path }) => path)).toEqual([['age']]);
    expect(error.value).toEqual({ name: 'Ann', age: '30', city: 'Rome' });
  });

  test('an issue about the whole value counts more than many issues in fields', () => {
    const error = expectError(parse('Ages: [30, 31].\n\n{"name": 1, "age": "x", "city": 2}', Person));
    expect(error.value).toEqual({ name: 1, age: 'x', city: 2 });
  });
});

describe("accept: 'clean'", () => {
  test.each(['{"a": 1}', 'Here: {"a": 1}', '```json\n{"a": 1}\n```'])('accepts what was not changed: %j', (text) => {
    expect(expectSuccess(parse(text, A, { accept: 'clean' })).value).toEqual({ a: 1 });
  });

  test('refuses a repaired value, which the error contains', () => {
    const error = expectError(parse("{'a': 1,}", A, { accept: 'clean' }));
    expect(error).toMatchObject({ code: 'SYNTAX', value: { a: 1 }, message: expect.stringContaining('quote_style') });
  });
});
