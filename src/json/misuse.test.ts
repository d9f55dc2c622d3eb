import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { expectError, expectSuccess } from './fixtures/outcome.js';
import { withFields } from './fixtures/schemas.js';
import { createJsonStream, generateAndParse, parse, parseAsync, parseOrThrow, repairJson } from './index.js';

/** Calls as untyped JavaScript code would make them. */
const untyped = parse as (...args: unknown[]) => ReturnType<typeof parse>;
const TEXT = '{"a": 1}';

test('null instead of the options is misuse', () => {
  expect(() => untyped(TEXT, undefined, null)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
});

describe('the schema argument', () => {
  test.each([
    ['a plain JSON Schema', { type: 'object' }],
    ['options instead of the schema', { allowPartial: true }],
    ['a name', 'object'],
    ['null', null],
  ])('must not be %s', async (_, schema) => {
    const refusal = expect.objectContaining({
      code: 'INVALID_SCHEMA',
      message: expect.stringContaining('fromJsonSchema'),
    });
    expect(() => untyped(TEXT, schema)).toThrow(refusal);
    expect(() => (createJsonStream as (schema: unknown) => unknown)(schema)).toThrow(refusal);
    await expect((parseAsync as (...args: unknown[]) => Promise<unknown>)(TEXT, schema)).rejects.toEqual(refusal);
    await expect(
      (generateAndParse as (...args: unknown[]) => Promise<unknown>)(async () => TEXT, schema, { prompt: 'x' }),
    ).rejects.toEqual(refusal);
  });

  test('may be a function, as in arktype', () => {
    const schema = Object.assign(() => undefined, withFields('a'));
    expect(parse(TEXT, schema).ok).toBe(true);
  });
});

test('an unknown option is answered with the options of the function', async () => {
  const unknown = { foo: 1 } as object;
  const listing = (message: unknown) => expect.objectContaining({ code: 'INVALID_OPTION', message });
  expect(() => createJsonStream(undefined, unknown)).toThrow(
    listing(expect.stringMatching(/foo\. Expected: profile, .*, partial, stopWhenComplete, validatePartial\./)),
  );
  expect(() => repairJson('{a: 1}', unknown)).toThrow(listing('Invalid option foo. Expected: limits.'));
  await expect(generateAndParse(async () => TEXT, withFields('a'), unknown)).rejects.toEqual(
    listing(expect.stringMatching(/foo\. Expected: profile, .*, retryPrompt, detailed\./)),
  );
});

test('the options of a stream are checked', () => {
  expect(() => createJsonStream(undefined, { stopWhenComplete: 'yes' } as object)).toThrow(
    'Invalid option stopWhenComplete. Expected: boolean.',
  );
});

describe('the options argument', () => {
  test.each<[string, object, string]>([
    ['a misspelt name', { allowpartial: true }, 'Invalid option allowpartial. Expected: profile, allowPartial'],
    ['a name every object has', { constructor: 1 }, 'Invalid option constructor'],
    ['an unknown profile', { profile: 'strict' }, 'Invalid option profile. Expected: default|generic|tagged|unified'],
    ['the former name of an option', { prefer: 'first' }, 'Invalid option prefer. Expected: ambiguous'],
    ['a string for a flag', { align: 'true' }, 'Invalid option align. Expected: boolean'],
    ['a type name for a flag', { align: 'boolean' }, 'Invalid option align. Expected: boolean'],
    ['a type name for a list', { normalizers: 'array' }, 'Invalid option normalizers. Expected: array'],
    ['a bigint for a string', { numbers: 1n }, 'Invalid option numbers. Expected: double|bigint|raw'],
    [
      'a function for a list',
      { normalizers: (value: unknown) => value },
      'Invalid option normalizers. Expected: array',
    ],
    [
      'a limit that is not a number',
      { limits: { depth: Number.NaN } },
      'Invalid option depth. Expected: a non-negative number',
    ],
    ['a negative limit', { limits: { bytes: -1 } }, 'Invalid option bytes. Expected: a non-negative number'],
    ['a misspelt limit', { limits: { byte: 9 } }, 'Invalid option byte. Expected: bytes'],
    ['only a profile name', 'tagged' as unknown as object, 'Invalid option 0'],
  ])('must not contain %s', async (_, options, message) => {
    const refusal = expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining(message) });
    expect(() => untyped(TEXT, undefined, options)).toThrow(refusal);
    expect(() => createJsonStream(undefined, options)).toThrow(refusal);
    await expect(parseAsync(TEXT, undefined, options)).rejects.toEqual(refusal);
  });

  test('may contain undefined, which counts as omitted', () => {
    const options = { profile: undefined, limits: { depth: undefined } } as object;
    expect(parse(TEXT, undefined, options).ok).toBe(true);
  });

  test('accepts the extra options of streams and generateAndParse only there', async () => {
    const options = { partial: { numbers: true }, stopWhenComplete: true, validatePartial: false, label: 'x' } as const;
    expect(createJsonStream(undefined, options).push(TEXT).complete).toBe(true);
    expect(() => untyped(TEXT, undefined, options)).toThrow('Invalid option partial');
    const asking = generateAndParse(async () => TEXT, withFields('a'), { prompt: 'x', maxRetry: 3 } as {
      prompt: string;
    });
    await expect(asking).rejects.toThrow('Invalid option maxRetry');
  });

  test('must not contain align without a schema', () => {
    expect(() => parse(TEXT, undefined, { align: true })).toThrow(
      expect.objectContaining({ code: 'ALIGN_UNSUPPORTED', message: expect.stringContaining('alignable') }),
    );
  });
});

describe('the text argument', () => {
  test.each([null, undefined])('%s is empty', (text) => {
    expect(expectError(parse(text)).code).toBe('EMPTY_INPUT');
    expect(() => parseOrThrow(text)).toThrow(expect.objectContaining({ code: 'EMPTY_INPUT' }));
    expect(() => repairJson(text)).toThrow(expect.objectContaining({ code: 'EMPTY_INPUT' }));
  });

  test('bytes are read as UTF-8', async () => {
    const bytes = new TextEncoder().encode('\uFEFFSo: {"name": "Zoë"}');
    expect(expectSuccess(parse(bytes)).value).toEqual({ name: 'Zoë' });
    expect(expectSuccess(parse(Buffer.from('{"a": 1,}'))).value).toEqual({ a: 1 });
    expect(expectSuccess(await parseAsync(bytes)).value).toEqual({ name: 'Zoë' });
    expect(repairJson(bytes)).toBe('{"name":"Zoë"}');
  });

  test('bytes beyond the limit are refused before they are decoded', () => {
    expect(expectError(parse(new Uint8Array(11), undefined, { limits: { bytes: 10 } })).code).toBe('LIMIT_EXCEEDED');
  });

  test.each([5, { a: 1 }, [TEXT], true])('%o is misuse', (text) => {
    expect(() => untyped(text)).toThrow(expect.objectContaining({ code: 'INVALID_TEXT' }));
  });
});

describe('errors', () => {
  test('an error serialized as JSON includes its message', () => {
    const error = expectError(parse('{"a": '));
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({
      name: 'ParseError',
      code: 'TRUNCATED',
      message: error.message,
    });
  });

  test('an error serialized as JSON keeps all digits of large integers', () => {
    const text = '{"id": 12345678901234567890, "list": [98765432109876543210]}';
    const error = expectError(parse(text, z.object({ id: z.string() }), { numbers: 'bigint' }));
    expect(error.value).toEqual({ id: 12345678901234567890n, list: [98765432109876543210n] });
    expect(JSON.parse(JSON.stringify({ error, attempts: error.attempts }))).toMatchObject({
      error: { code: 'SCHEMA_MISMATCH', value: { id: '12345678901234567890', list: ['98765432109876543210'] } },
    });
  });

  test('the error of a result can be thrown without checking its status', () => {
    const result = parse('{"a": 1}', z.object({ a: z.number() }));
    if (!result.ok) throw result.error;
    expectTypeOf(result.value).toEqualTypeOf<{ a: number }>();
  });
});
