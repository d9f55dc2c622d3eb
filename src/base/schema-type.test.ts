import { describe, expect, expectTypeOf, test } from 'vitest';
import { listKeys, object, oneOf } from './schema-type.js';
import type { FromSchema } from './schema-type.js';

describe('FromSchema', () => {
  test('required keys are required, optional keys optional, all read-only', () => {
    const point = object({ x: { type: 'number' } }, { label: { type: 'string' } });
    expectTypeOf<FromSchema<typeof point>>().toEqualTypeOf<{ readonly x: number; readonly label?: string }>();
  });

  test('const, enum, anyOf and lists of types become unions', () => {
    expectTypeOf<FromSchema<{ const: 'a' }>>().toEqualTypeOf<'a'>();
    expectTypeOf<FromSchema<{ enum: ['a', 'b'] }>>().toEqualTypeOf<'a' | 'b'>();
    expectTypeOf<FromSchema<{ type: ['integer', 'null'] }>>().toEqualTypeOf<number | null>();
    expectTypeOf<FromSchema<{ anyOf: [{ type: 'boolean' }, { const: 1 }] }>>().toEqualTypeOf<boolean | 1>();
  });

  test('arrays and open objects have the type of their items and values', () => {
    expectTypeOf<FromSchema<{ type: 'array'; items: { type: 'string' } }>>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<FromSchema<{ type: 'object'; additionalProperties: { type: 'integer' } }>>().toEqualTypeOf<
      Readonly<Record<string, number>>
    >();
  });

  test('a schema that allows everything has the type unknown', () => {
    expectTypeOf<FromSchema<Record<never, never>>>().toEqualTypeOf<unknown>();
  });
});

describe('object', () => {
  test('writes a closed object', () => {
    expect(object({ x: { type: 'number' } }, { label: { type: 'string' } })).toEqual({
      type: 'object',
      properties: { x: { type: 'number' }, label: { type: 'string' } },
      required: ['x'],
      additionalProperties: false,
    });
  });
});

test('oneOf and listKeys keep literal types', () => {
  expect(oneOf(['a', 'b'])).toEqual({ enum: ['a', 'b'] });
  expect(listKeys({ a: 1, b: 2 })).toEqual(['a', 'b']);
});
