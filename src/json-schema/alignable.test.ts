import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, expectTypeOf, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { parse } from '../json/parse.js';
import type { StandardSchema } from '../json/schema.js';
import { alignable } from './alignable.js';

const libraries: Readonly<
  Record<string, StandardSchema<unknown, { price: number; mood: 'bullish' | 'bearish'; tags?: string[] | undefined }>>
> = {
  zod: z.object({ price: z.number(), mood: z.enum(['bullish', 'bearish']), tags: z.array(z.string()).optional() }),
  arktype: type({ price: 'number', mood: "'bullish' | 'bearish'", 'tags?': 'string[]' }),
  valibot: v.object({
    price: v.number(),
    mood: v.picklist(['bullish', 'bearish']),
    tags: v.optional(v.array(v.string())),
  }),
  'valibot by its standard form': toStandardJsonSchema(
    v.object({ price: v.number(), mood: v.picklist(['bullish', 'bearish']), tags: v.optional(v.array(v.string())) }),
  ),
};

describe.each(Object.entries(libraries))('alignable with %s', (_name, library) => {
  const schema = alignable(library);

  test('aligns what the library then accepts', () => {
    const text = '{"Price": "$1,234.50", "mood": "Bullish (看涨)", "tags": "ai"}';
    expect(parse(text, schema, { align: true })).toMatchObject({
      ok: true,
      value: { price: 1234.5, mood: 'bullish', tags: ['ai'] },
      repairLevel: 'schema_aligned',
    });
  });

  test('leaves out null where the key may be absent', () => {
    expect(schema['~sluice'].align({ price: 1, mood: 'bearish', tags: null }).value).toEqual({
      price: 1,
      mood: 'bearish',
    });
  });

  test('fills nothing in', () => {
    expect(parse('{"price": "1"}', schema, { align: true })).toMatchObject({
      ok: false,
      error: { code: 'SCHEMA_MISMATCH' },
    });
    expect(parse('{"price": "1", "mood": "not bullish"}', schema, { align: true }).ok).toBe(false);
  });
});

describe('alignable', () => {
  test('keeps the types of the schema', () => {
    const schema = alignable(z.object({ n: z.string().transform(Number) }));
    expectTypeOf(schema['~standard'].types).toEqualTypeOf<
      { readonly input: { n: string }; readonly output: { n: number } } | undefined
    >();
    expect(parse('{"n": 5}', schema, { align: true })).toMatchObject({ ok: true, value: { n: 5 } });
  });

  test('leaves to the library what JSON Schema cannot express', () => {
    const schema = alignable(z.object({ even: z.number().refine((n) => n % 2 === 0), when: z.date().optional() }));
    expect(parse('{"even": "4"}', schema, { align: true })).toMatchObject({ ok: true, value: { even: 4 } });
    expect(parse('{"even": "3"}', schema, { align: true }).ok).toBe(false);
  });

  test('follows recursive schemas', () => {
    const Node = z.object({
      value: z.number(),
      get children() {
        return z.array(Node).optional();
      },
    });
    const schema = alignable(Node);
    expect(schema['~sluice'].align({ value: '1', children: { value: '2' } }).value).toEqual({
      value: 1,
      children: [{ value: 2 }],
    });
  });

  test('aligns discriminated unions', () => {
    const schema = alignable(
      z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('ok'), value: z.number() }),
        z.object({ kind: z.literal('failed'), reason: z.string() }),
      ]),
    );
    expect(schema['~sluice'].align({ Kind: 'OK', value: '5' }).value).toEqual({ kind: 'ok', value: 5 });
    expect(schema['~sluice'].align({ kind: 'failed', value: '5' }).changes).toEqual([]);
  });

  test('refuses a library without a JSON Schema export, with a hint', () => {
    const foreign: StandardSchema = { '~standard': { version: 1, vendor: 'other', validate: (value) => ({ value }) } };
    expect(() => alignable(foreign)).toThrow(
      expect.objectContaining({
        code: 'ALIGN_UNSUPPORTED',
        message: expect.stringContaining('fromJsonSchema') as string,
      }),
    );
  });

  test('names the missing package for valibot schemas', () => {
    const builtin = vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined);
    // Files share a process: what a failing test left behind would fail others.
    onTestFinished(() => builtin.mockRestore());
    expect(() => alignable(v.string())).toThrow(
      expect.objectContaining({
        code: 'ALIGN_UNSUPPORTED',
        message: expect.stringContaining('@valibot/to-json-schema') as string,
      }),
    );
  });

  test('reports the error of a library that throws while exporting', () => {
    const broken = {
      '~standard': {
        version: 1 as const,
        vendor: 'x',
        validate: (value: unknown) => ({ value }),
        jsonSchema: {
          input: () => {
            throw new Error('no');
          },
        },
      },
    };
    expect(() => alignable(broken)).toThrow(
      expect.objectContaining({
        code: 'ALIGN_UNSUPPORTED',
        message: 'this schema cannot be written as JSON Schema: no; write one and use fromJsonSchema',
      }),
    );
  });
});
