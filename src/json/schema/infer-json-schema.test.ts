import { describe, expect, expectTypeOf, test } from 'vitest';
import { parse } from '../parse.js';
import type { AlignableSchema } from '../schema.js';
import { fromJsonSchema } from './from-json-schema.js';
import type { InferJsonSchema } from './infer-json-schema.js';
import type { JsonSchema } from './json-schema.js';

const finding = {
  type: 'object',
  properties: {
    file: { type: 'string' },
    line: { type: ['integer', 'null'] },
    severity: { enum: ['low', 'high'] },
    tags: { type: 'array', items: { type: 'string' } },
    by: { anyOf: [{ const: 'agent' }, { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] }] },
    scores: { type: 'object', additionalProperties: { type: 'number' } },
    done: { type: 'boolean', nullable: true },
    other: { $ref: '#/$defs/x' },
  },
  required: ['file', 'severity'],
  $defs: { x: true },
} as const;

interface Finding {
  file: string;
  severity: 'low' | 'high';
  line?: number | null;
  tags?: string[];
  by?: 'agent' | { id: number };
  scores?: Record<string, number>;
  done?: boolean | null;
  other?: unknown;
}

describe('the value type', () => {
  test('is inferred from a constant schema', () => {
    expectTypeOf<InferJsonSchema<typeof finding>>().toEqualTypeOf<Finding>();
    expectTypeOf(fromJsonSchema(finding)).toEqualTypeOf<AlignableSchema<Finding>>();
  });

  test('is inferred from an inline schema', () => {
    const result = parse(
      '{"line": 3}',
      fromJsonSchema({ type: 'object', properties: { line: { type: 'integer' } }, required: ['line'] }),
    );
    if (result.ok) expectTypeOf(result.value).toEqualTypeOf<{ line: number }>();
    expect(result.ok).toBe(true);
  });

  test('is the explicit type, if any', () => {
    const given = fromJsonSchema<Record<string, unknown>>({ type: 'object' });
    expectTypeOf(given).toEqualTypeOf<AlignableSchema<Record<string, unknown>>>();
  });

  test('is unknown if the compiler cannot see the schema', () => {
    const loaded: JsonSchema = JSON.parse('{"type": "string"}') as JsonSchema;
    expectTypeOf(fromJsonSchema(loaded)).toEqualTypeOf<AlignableSchema>();
    const widened = { type: 'string' };
    expectTypeOf(fromJsonSchema(widened)).toEqualTypeOf<AlignableSchema>();
    expectTypeOf<InferJsonSchema<{ readonly not: { readonly type: 'string' } }>>().toEqualTypeOf<unknown>();
  });

  test('is the intersection for allOf, never for false and unknown for true', () => {
    type Joined = InferJsonSchema<{
      readonly allOf: readonly [
        {
          readonly type: 'object';
          readonly properties: { readonly a: { readonly type: 'string' } };
          readonly required: readonly ['a'];
        },
        {
          readonly type: 'object';
          readonly properties: { readonly b: { readonly type: 'number' } };
          readonly required: readonly ['b'];
        },
      ];
    }>;
    expectTypeOf<Joined>().toEqualTypeOf<{ a: string } & { b: number }>();
    expectTypeOf<InferJsonSchema<false>>().toEqualTypeOf<never>();
    expectTypeOf<InferJsonSchema<true>>().toEqualTypeOf<unknown>();
  });

  test('is inferred from TypeBox schemas of either generation', () => {
    // The types that `Type.Object({ a: Type.String(), b: Type.Optional(Type.Number()) })` has in @sinclair/typebox and typebox.
    interface Older {
      readonly static: { a: string; b?: number };
      readonly type: 'object';
      readonly properties: object;
    }
    interface Newer {
      '~kind': 'Object';
      type: 'object';
      properties: {
        a: { '~kind': 'String'; type: 'string' };
        b: { '~kind': 'Number'; type: 'number'; '~optional': true };
      };
      required: string[];
    }
    expectTypeOf<InferJsonSchema<Older>>().toEqualTypeOf<{ a: string; b?: number }>();
    expectTypeOf<InferJsonSchema<Newer>>().toEqualTypeOf<{ a: string; b?: number }>();
  });
});
