import { describe, expect, test } from 'vitest';
import type { JsonSchema } from './json-schema.js';
import { fromJsonSchema } from './from-json-schema.js';

const modes = [{ trusted: true }, { trusted: false }];

function validate(schema: JsonSchema, value: unknown, trusted: boolean) {
  const result = fromJsonSchema(schema, { trusted })['~standard'].validate(value);
  if (result instanceof Promise) throw new Error('validation must not be asynchronous');
  return result;
}

function isValid(schema: JsonSchema, value: unknown, trusted: boolean): boolean {
  return validate(schema, value, trusted).issues === undefined;
}

function catchError(schema: unknown, trusted: boolean): unknown {
  try {
    fromJsonSchema(schema as JsonSchema, { trusted });
  } catch (error) {
    return error;
  }
  return undefined;
}

const finding = {
  type: 'object',
  properties: {
    file: { type: 'string' },
    line: { type: 'integer', minimum: 1 },
    severity: { enum: ['low', 'high'] },
  },
  required: ['file', 'line', 'severity'],
  additionalProperties: false,
};

describe.each(modes)('fromJsonSchema, trusted: $trusted', ({ trusted }) => {
  test('reports the problem and its location', () => {
    const result = validate({ type: 'array', items: finding }, [{ file: 1, line: 0, other: true }], trusted);
    expect(result.issues).toEqual([
      { path: [0, 'severity'], message: 'required, but missing' },
      { path: [0, 'file'], message: 'expected string, got number' },
      { path: [0, 'line'], message: 'must be at least 1' },
      { path: [0, 'other'], message: 'this property is not allowed' },
    ]);
  });

  test('reports the issues of the only alternative that matches', () => {
    const schema = { anyOf: [{ type: 'null' }, { type: 'object', properties: { a: { type: 'string' } } }] };
    expect(validate(schema, { a: 1 }, trusted).issues).toEqual([
      { path: ['a'], message: 'expected string, got number' },
    ]);
    expect(validate(schema, 1, trusted).issues).toEqual([{ path: [], message: 'matches none of the 2 alternatives' }]);
  });

  test('stops at 32 issues', () => {
    const values = Array.from({ length: 100_000 }, () => 'x');
    expect(validate({ items: { type: 'number' } }, values, trusted).issues).toHaveLength(32);
  });

  test('applies no default and coerces nothing', () => {
    const schema = { type: 'object', properties: { a: { type: 'number', default: 1 } }, required: ['a'] };
    expect(isValid(schema, {}, trusted)).toBe(false);
    expect(isValid(schema, { a: '1' }, trusted)).toBe(false);
  });

  test('checks a value a thousand levels deep', () => {
    const tree = {
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          properties: {
            child: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/node' }] },
            list: { items: { $ref: '#' } },
          },
        },
      },
    };
    expect(isValid(tree, deepen({ child: null }), trusted)).toBe(true);
    expect(isValid(tree, deepen({ child: 1 }), trusted)).toBe(false);
  });

  test('returns an issue instead of throwing if a value is deeper than the call stack', () => {
    let value: unknown = [];
    for (let level = 0; level < 200_000; level += 1) value = [value];
    const schema = { type: 'array', items: { allOf: [{ $ref: '#' }] } };
    expect(validate(schema, value, trusted).issues).toEqual([{ path: [], message: 'nested too deeply to be checked' }]);
  });

  test('treats inherited names as absent', () => {
    expect(isValid({ required: ['constructor'] }, {}, trusted)).toBe(false);
    expect(isValid({ properties: { toString: { type: 'string' } } }, {}, trusted)).toBe(true);
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"string"}},"additionalProperties":false}') as object;
    expect(isValid(schema, JSON.parse('{"__proto__":"a"}'), trusted)).toBe(true);
    expect(isValid(schema, JSON.parse('{"__proto__":1}'), trusted)).toBe(false);
    expect(isValid({ enum: [{ valueOf: 1 }] }, { valueOf: 1 }, trusted)).toBe(true);
  });

  test.each([
    [19.99, 0.01, true],
    [0.3, 0.1, true],
    [1e21, 1, true],
    [7, 2, false],
    [0.35, 0.1, false],
    [5e-324, 5e-324, true],
  ])('computes multipleOf with decimals: %d is a multiple of %d: %s', (value, multipleOf, expected) => {
    expect(isValid({ multipleOf }, value, trusted)).toBe(expected);
  });

  test.each<[string, object, unknown, boolean]>([
    ['a key under properties', { properties: { a: true }, unevaluatedProperties: false }, { a: 1 }, true],
    ['an unknown key', { properties: { a: true }, unevaluatedProperties: false }, { b: 1 }, false],
    [
      'a key of a branch that passed',
      { anyOf: [{ properties: { a: { const: 1 } }, required: ['a'] }, true], unevaluatedProperties: false },
      { a: 1 },
      true,
    ],
    [
      'a key of a branch that failed',
      { anyOf: [{ properties: { a: { const: 1 } }, required: ['a'] }, true], unevaluatedProperties: false },
      { a: 2 },
      false,
    ],
    [
      'a key of a neighbour',
      { allOf: [{ properties: { a: true } }, { unevaluatedProperties: false }] },
      { a: 1 },
      false,
    ],
    [
      'a key behind a reference',
      { $ref: '#/$defs/x', unevaluatedProperties: false, $defs: { x: { properties: { a: true } } } },
      { a: 1 },
      true,
    ],
    ['a key of the condition', { if: { properties: { a: true } }, unevaluatedProperties: false }, { a: 1 }, true],
    ['an item of the prefix', { prefixItems: [true], unevaluatedItems: false }, [1], true],
    ['an item after the prefix', { prefixItems: [true], unevaluatedItems: false }, [1, 2], false],
    ['an item that matches contains', { contains: { const: 1 }, unevaluatedItems: false }, [1, 1], true],
    ['an item that does not match contains', { contains: { const: 1 }, unevaluatedItems: false }, [1, 2], false],
  ])('applies unevaluatedProperties and unevaluatedItems to %s', (_title, schema, value, expected) => {
    expect(isValid(schema, value, trusted)).toBe(expected);
  });

  test.each<[object, unknown, boolean]>([
    [{ contains: { $ref: '#/$defs/any' }, $defs: { any: true } }, [], false],
    [{ contains: { type: 'number' }, minContains: 2 }, [1, 'a', 2], true],
    [{ contains: { type: 'number' }, minContains: 2 }, [1, 'a'], false],
    [{ contains: { type: 'number' }, maxContains: 1 }, [1, 2], false],
    [{ contains: { type: 'number' }, minContains: 0 }, [], true],
  ])('applies contains: %j accepts %j: %s', (schema, value, expected) => {
    expect(isValid(schema, value, trusted)).toBe(expected);
  });

  test('follows references by pointer, by anchor, by id, and below unknown keywords', () => {
    const schema = {
      $id: 'https://example.org/root',
      properties: {
        pointer: { $ref: '#/$defs/a~1b%25' },
        anchor: { $ref: '#word' },
        id: { $ref: 'other' },
        dynamic: { $dynamicRef: '#word' },
        unknown: { $ref: '#/components/schemas/Name' },
      },
      $defs: {
        'a/b%': { type: 'string' },
        anchored: { $anchor: 'word', type: 'string' },
      },
      components: { schemas: { Name: { type: 'string', nullable: true } } },
    };
    const value = { pointer: 'a', anchor: 'a', dynamic: 'a', unknown: null };
    const { id: _id, ...rest } = schema.properties;
    expect(isValid({ ...schema, properties: rest }, value, trusted)).toBe(true);
    for (const key of Object.keys(rest)) {
      expect(isValid({ ...schema, properties: rest }, { ...value, [key]: 1 }, trusted)).toBe(false);
    }
    const { dynamic: _dynamic, ...withId } = schema.properties;
    const twoResources = {
      ...schema,
      properties: withId,
      $defs: { ...schema.$defs, other: { $id: 'other', type: 'string' } },
    };
    expect(isValid(twoResources, { id: 'a' }, trusted)).toBe(true);
    expect(isValid(twoResources, { id: 1 }, trusted)).toBe(false);
  });

  test.each<[string, object, unknown, unknown]>([
    ['items as a list', { items: [{ type: 'string' }], additionalItems: false }, ['a'], ['a', 1]],
    ['dependencies', { dependencies: { a: ['b'], c: { required: ['d'] } } }, { a: 1, b: 1 }, { c: 1 }],
    ['a boolean exclusiveMinimum', { minimum: 1, exclusiveMinimum: true }, 2, 1],
    ['nullable', { type: 'string', nullable: true }, null, 1],
    ['definitions', { $ref: '#/definitions/a', definitions: { a: { type: 'string' } } }, 'a', 1],
    ['the draft 7 $schema', { $schema: 'http://json-schema.org/draft-07/schema#', type: 'string' }, 'a', 1],
    ['the draft 4 id', { id: 'x', type: 'string' }, 'a', 1],
    ['$async', { $async: true, type: 'string' }, 'a', 1],
    ['unknown keywords and formats', { type: 'string', format: 'phone', 'x-order': 1, example: {} }, 'a', 1],
    ['a pattern that is only valid without the u flag', { pattern: '^[\\w-.]+$' }, 'a-.b', 'a b'],
  ])('converts older keywords: %s', (_title, schema, good, bad) => {
    expect(isValid(schema, good, trusted)).toBe(true);
    expect(isValid(schema, bad, trusted)).toBe(false);
  });

  test.each<[string, unknown, string]>([
    ['an unknown type', { properties: { a: { type: 'strin' } } }, '#/properties/a/type: "strin" is not a type'],
    ['properties that are not an object', { items: { properties: [] } }, '#/items/properties: expected an object'],
    ['required as a flag', { properties: { a: { required: true } } }, '#/properties/a/required: expected a list'],
    ['an empty enum', { enum: [] }, '#/enum: expected a list of at least one value'],
    ['a negative length', { minLength: -1 }, '#/minLength: expected a whole number'],
    ['a schema that is a string', { items: 'string' }, '#/items: a schema is an object or a boolean, not "string"'],
    ['no schema at all', undefined, '#: a schema is an object or a boolean'],
    [
      'a broken pattern',
      { $defs: { a: { pattern: '(' } } },
      '#/$defs/a/pattern: "(" is not a valid regular expression',
    ],
    [
      'a broken pattern as a key',
      { patternProperties: { '[': true } },
      '#/patternProperties/[: "[" is not a valid regular',
    ],
    ['a reference to nothing', { items: { $ref: '#/$defs/b' } }, '#/items: "#/$defs/b" is not in this schema'],
    ['a remote reference', { $ref: 'https://example.org/x' }, '#: "https://example.org/x" is not in this schema'],
    ['a circular reference', { $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#' }] } } }, 'refers to itself'],
    ['a schema deeper than 256', deepSchema(300), 'nested deeper than'],
  ])('rejects %s, with the location', (_title, schema, message) => {
    expect(catchError(schema, trusted)).toMatchObject({
      code: 'INVALID_SCHEMA',
      message: expect.stringContaining(message) as string,
    });
  });

  test.each([
    ['schemas', (inner: object) => ({ properties: { a: inner } })],
    ['alternatives', (inner: object) => ({ anyOf: [inner] })],
    ['data', (inner: object) => ({ default: inner })],
  ])('rejects deeply nested %s with a typed error', (_title, wrap) => {
    let schema: object = {};
    for (let level = 0; level < 100_000; level += 1) schema = wrap(schema);
    expect(catchError(schema, trusted)).toMatchObject({ code: 'INVALID_SCHEMA' });
  });

  test.each([
    ['response_format of OpenAI', { type: 'json_schema', json_schema: { name: 'f', strict: true, schema: finding } }],
    ['its inner part', { name: 'finding', strict: true, schema: finding }],
    ['text.format of OpenAI', { type: 'json_schema', name: 'f', strict: true, schema: finding }],
    ['an OpenAI function', { type: 'function', function: { name: 'f', description: 'x', parameters: finding } }],
    ['a function of the newer OpenAI interface', { type: 'function', name: 'f', parameters: finding, strict: true }],
    ['an Anthropic tool', { name: 'f', description: 'x', input_schema: finding }],
    ['an MCP tool', { name: 'f', title: 'F', inputSchema: finding }],
  ])('unwraps the schema from %s', (_title, envelope) => {
    expect(isValid(envelope, { file: 'a', line: 1, severity: 'low' }, trusted)).toBe(true);
    expect(isValid(envelope, { file: 'a' }, trusted)).toBe(false);
    expect(isValid(envelope, 'anything', trusted)).toBe(false);
  });

  test.each([
    ['a list of fields', { name: 'string', age: 'number' }, '"name", "age": not a JSON Schema keyword'],
    ['an envelope without a schema', { name: 'f', strict: true }, '"name", "strict": not a JSON Schema keyword'],
    [
      'an envelope around a list of fields',
      { name: 'f', schema: { age: 'number' } },
      '"age": not a JSON Schema keyword',
    ],
  ])('rejects %s, which would accept anything', (_title, schema, message) => {
    expect(catchError(schema, trusted)).toMatchObject({
      code: 'INVALID_SCHEMA',
      message: expect.stringContaining(message) as string,
    });
  });

  test.each([
    [{}],
    [{ title: 'Anything' }],
    [{ $comment: 'x' }],
    [{ 'x-internal': true }],
    [{ description: 'x', default: 1 }],
  ])('accepts %j, which intentionally accepts anything', (schema) =>
    expect(isValid(schema, [1, 'a'], trusted)).toBe(true),
  );

  test('rejects a schema object that contains itself', () => {
    const schema: Record<string, unknown> = {};
    schema['items'] = schema;
    expect(catchError(schema, trusted)).toMatchObject({ code: 'INVALID_SCHEMA' });
  });
});

function deepen(leaf: unknown): unknown {
  let value: unknown = leaf;
  for (let level = 0; level < 500; level += 1) value = { child: { list: [value] } };
  return value;
}

function deepSchema(depth: number): object {
  let schema: object = {};
  for (let level = 0; level < depth; level += 1) schema = { items: schema };
  return schema;
}

describe('an untrusted schema', () => {
  test('cannot make a check exponential', () => {
    const $defs: Record<string, object> = { d0: { type: 'string' } };
    for (let level = 1; level <= 60; level += 1) {
      const $ref = `#/$defs/d${level - 1}`;
      $defs[`d${level}`] = {
        anyOf: [
          { $ref, minLength: 1 },
          { $ref, minLength: 2 },
        ],
      };
    }
    const result = validate({ $ref: '#/$defs/d60', $defs }, 1, false);
    expect(result.issues).toEqual([{ path: [], message: 'validation takes more than 5000000 steps' }]);
  });

  const items = Array.from({ length: 6000 }, (_, index) => index);
  const keys = Object.fromEntries(items.map((index) => [`key ${index}`, index]));

  test.each([
    ['unevaluatedItems', { unevaluatedItems: true }, items],
    ['unevaluatedProperties', { unevaluatedProperties: true }, keys],
    ['propertyNames', { propertyNames: true }, keys],
    ['minProperties', { minProperties: 1 }, keys],
    ['maxProperties', { maxProperties: 100_000 }, keys],
    ['uniqueItems', { uniqueItems: true }, [items]],
    ['const', { const: [1] }, items],
    ['enum', { enum: [[1]] }, items],
    ['minLength', { minLength: 1 }, 'x'.repeat(200_000)],
    ['required', { required: Array.from({ length: 6000 }, () => 'key 1') }, keys],
    ['dependentRequired', { dependentRequired: { 'key 1': Array.from({ length: 6000 }, () => 'key 2') } }, keys],
  ])('cannot make the check of %s slow by repeating it', (_keyword, part, value) => {
    const $ref = '#/$defs/part';
    const branches = Array.from({ length: 1000 }, () => ({ not: { anyOf: [{ $ref }, { not: { $ref } }] } }));
    const result = validate({ anyOf: branches, $defs: { part } }, value, false);
    expect(result.issues).toEqual([{ path: [], message: 'validation takes more than 5000000 steps' }]);
  });

  test('reports that the validations have used up their shared allowance', () => {
    const allowance = { steps: 3 };
    const { validate: check } = fromJsonSchema({ items: { type: 'integer' } }, { allowance })['~standard'];
    const message = 'validation takes more than the shared allowance of steps';
    for (const value of [[1, 2, 3, 4, 5], [1]]) expect(check(value)).toEqual({ issues: [{ path: [], message }] });
  });

  test('cannot make a pattern exponential', () => {
    const schema = { pattern: '^(?:a+)+$', patternProperties: { '^(?:b|b?)+$': true } };
    expect(isValid(schema, 'a'.repeat(50_000), false)).toBe(true);
    expect(isValid(schema, `${'a'.repeat(50_000)}!`, false)).toBe(false);
    expect(isValid({ ...schema, additionalProperties: false }, { [`${'b'.repeat(5000)}!`]: 1 }, false)).toBe(false);
  });

  test.each([
    ['look-ahead', '^(?=a)', 'look-around'],
    ['look-behind', '(?<!a)b', 'look-around'],
    ['a back-reference', '(a)\\1', 'back-references'],
    ['a named back-reference', '(?<x>a)\\k<x>', 'back-references'],
    ['a pattern that expands to millions', '(?:(?:a{100}){100}){100}', 'too large'],
    ['a pattern of empty groups', '(?:(?:(?:){100000}b?){100000}){100000}', 'too large'],
    ['a pattern of nested groups', '(?:'.repeat(200) + ')'.repeat(200), 'too many groups'],
  ])('must not use %s in a pattern', (_title, pattern, message) => {
    expect(catchError({ pattern }, false)).toMatchObject({
      code: 'INVALID_SCHEMA',
      message: expect.stringContaining(message) as string,
    });
  });

  test('must not be larger than 20000 values', () => {
    const schema = { enum: Array.from({ length: 20_001 }, (_, index) => index) };
    expect(catchError(schema, false)).toMatchObject({
      code: 'INVALID_SCHEMA',
      message: expect.stringContaining('20000') as string,
    });
    expect(catchError(schema, true)).toBeUndefined();
  });

  test('must not use dynamic references across multiple resources', () => {
    const schema = { $dynamicRef: '#a', $dynamicAnchor: 'b', $defs: { x: { $id: 'x' }, a: { $dynamicAnchor: 'a' } } };
    expect(catchError(schema, false)).toMatchObject({
      code: 'INVALID_SCHEMA',
      message: expect.stringContaining('$dynamicRef') as string,
    });
  });
});

describe('a long chain of references', () => {
  const $defs: Record<string, object> = { d0: { type: 'string' } };
  for (let level = 1; level <= 4000; level += 1) $defs[`d${level}`] = { allOf: [{ $ref: `#/$defs/d${level - 1}` }] };
  const schema = { $ref: '#/$defs/d4000', $defs };

  test.each(modes)('never makes a schema throw, trusted: $trusted', ({ trusted }) => {
    const { '~standard': standard, '~sluice': alignment } = fromJsonSchema(schema, { trusted });
    expect(standard.validate(1)).toHaveProperty('issues');
    expect(alignment.align(1)).toEqual({ value: 1, changes: [] });
    expect(() => alignment.checkPart([], 1)).not.toThrow();
  });
});

test.each<[JsonSchema, unknown, string]>([
  [{ minItems: 1 }, [], 'must have at least 1 item'],
  [{ minItems: 2 }, [], 'must have at least 2 items'],
  [{ maxItems: 1 }, [1, 2], 'must have at most 1 item'],
  [{ contains: { const: 1 }, maxContains: 1 }, [1, 1], 'must contain at most 1 matching item'],
  [{ minProperties: 1 }, {}, 'must have at least 1 property'],
  [{ maxProperties: 1 }, { a: 1, b: 2 }, 'must have at most 1 property'],
  [{ minLength: 1 }, '', 'must have at least 1 character'],
  [{ maxLength: 1 }, 'ab', 'must have at most 1 character'],
])('the message for %j and %j is: %s', (schema, value, message) => {
  expect(fromJsonSchema(schema, { trusted: false })['~standard'].validate(value)).toEqual({
    issues: [{ path: [], message }],
  });
});
