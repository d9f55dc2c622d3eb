import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { parse } from './parse.js';
import type { InferOutput, StandardSchema } from './schema.js';
import type { StandardSchemaV1 } from '@standard-schema/spec';

describe('StandardSchema', () => {
  test('accepts every schema that implements the published interface', () => {
    expectTypeOf<StandardSchemaV1<string, number>>().toExtend<StandardSchema<string, number>>();
    const schema: StandardSchemaV1<unknown, { readonly line: number }> = z.object({ line: z.number() });
    const result = parse('{"line": 3}', schema);
    expect(result.ok && result.value.line).toBe(3);
  });

  test('infers the type of a schema', () => {
    const schema = z.object({ line: z.string().transform(Number) });
    expectTypeOf<InferOutput<typeof schema>>().toEqualTypeOf<{ line: number }>();
    expect(parse('{"line": "3"}', schema)).toMatchObject({ value: { line: 3 } });
  });

  test('a result that is not ok has an error, except in profile tagged', () => {
    const read = (text: string): unknown => {
      const result = parse(text);
      if (!result.ok) throw result.error;
      return result.value;
    };
    expect(read('[1]')).toEqual([1]);
    expect(() => read('nothing')).toThrow('JSON');
    const tagged = parse('nothing', undefined, { profile: 'tagged' });
    expectTypeOf(tagged.status).toEqualTypeOf<'success' | 'failed' | 'comment'>();
    expect(tagged.status).toBe('comment');
  });
});
