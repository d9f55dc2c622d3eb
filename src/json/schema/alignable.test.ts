import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, expectTypeOf, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import * as z3 from 'zod/v3';
import { parse } from '../parse.js';
import type { StandardSchema } from '../schema.js';
import { alignable } from './alignable.js';

const libraries: Readonly<
  Record<string, StandardSchema<unknown, { price: number; mood: 'bullish' | 'bearish'; tags?: string[] | undefined }>>
> = {
  zod: z.object({ price: z.number(), mood: z.enum(['bullish', 'bearish']), tags: z.array(z.string()).optional() }),
  'zod mini': mini.object({
    price: mini.number(),
    mood: mini.enum(['bullish', 'bearish']),
    tags: mini.optional(mini.array(mini.string())),
  }),
  'zod 3': z3.object({
    price: z3.number(),
    mood: z3.enum(['bullish', 'bearish']),
    tags: z3.array(z3.string()).optional(),
  }),
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

  test('aligns values that the library then accepts', () => {
    const text = '{"Price": "$1,234.50", "mood": "Bullish (看涨)", "tags": "ai"}';
    expect(parse(text, schema, { align: true })).toMatchObject({
      ok: true,
      value: { price: 1234.5, mood: 'bullish', tags: ['ai'] },
      repairLevel: 'schema_aligned',
    });
  });

  test('omits null if the key may be absent', () => {
    expect(schema['~sluice'].align({ price: 1, mood: 'bearish', tags: null }).value).toEqual({
      price: 1,
      mood: 'bearish',
    });
  });

  test('fills in nothing', () => {
    expect(parse('{"price": "1"}', schema, { align: true })).toMatchObject({
      ok: false,
      error: { code: 'SCHEMA_MISMATCH' },
    });
    expect(parse('{"price": "1", "mood": "not bullish"}', schema, { align: true }).ok).toBe(false);
  });
});

describe('alignable', () => {
  test("keeps the schema's types", () => {
    const schema = alignable(z.object({ n: z.string().transform(Number) }));
    expectTypeOf(schema['~standard'].types).toEqualTypeOf<
      { readonly input: { n: string }; readonly output: { n: number } } | undefined
    >();
    expect(parse('{"n": 5}', schema, { align: true })).toMatchObject({ ok: true, value: { n: 5 } });
  });

  test('lets the library validate what JSON Schema cannot express', () => {
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

  test('converts everything in zod 3 that JSON Schema can express', () => {
    // The object that TypeScript generates for an enum.
    const Level = { Low: 0, High: 1, 0: 'Low', 1: 'High' } as const;
    interface Node {
      value: number;
      children?: Node[] | undefined;
      next?: Node | undefined;
    }
    const node: z3.ZodType<Node> = z3.lazy(() =>
      z3.object({ value: z3.number(), children: z3.array(node).optional(), next: node.optional() }),
    );
    const schema = alignable(
      z3
        .object({
          id: z3.string().uuid().nullable(),
          name: z3
            .string()
            .min(2)
            .max(40)
            .transform((name) => name.trim()),
          count: z3.number().int().min(1).default(1),
          kind: z3.union([z3.literal('a'), z3.literal('b')]),
          level: z3.nativeEnum(Level),
          pair: z3.tuple([z3.number(), z3.string()]),
          by_name: z3.record(z3.boolean()),
          shape: z3.discriminatedUnion('type', [
            z3.object({ type: z3.literal('circle'), r: z3.number() }),
            z3.object({ type: z3.literal('box'), w: z3.number() }),
          ]),
          both: z3.object({ a: z3.number() }).and(z3.object({ b: z3.number() })),
          even: z3.number().refine((value) => value % 2 === 0),
          tree: node,
          when: z3.date().optional(),
        })
        .strict(),
    );
    const text = `{"ID": "N/A", "name": "Ann ", "count": "3", "kind": "A", "level": "1", "pair": ["1", 2], "by_name": {"x": "yes"},
      "shape": {"type": "Circle", "r": "2"}, "both": {"a": "1", "b": "2"}, "even": "4", "tree": {"value": "1", "next": {"value": "2", "children": {"value": "3"}}}}`;
    expect(parse(text, schema, { align: true })).toMatchObject({
      ok: true,
      value: {
        id: null,
        name: 'Ann',
        count: 3,
        kind: 'a',
        level: 1,
        pair: [1, '2'],
        by_name: { x: true },
        shape: { type: 'circle', r: 2 },
        both: { a: 1, b: 2 },
        even: 4,
        tree: { value: 1, next: { value: 2, children: [{ value: 3 }] } },
      },
    });
  });

  test('accepts an empty zod 3 tuple', () => {
    const schema = alignable(z3.object({ pair: z3.tuple([]), line: z3.number() }));
    expect(parse('{"pair": [], "line": "3"}', schema, { align: true })).toMatchObject({
      ok: true,
      value: { pair: [], line: 3 },
    });
    expect(parse('{"pair": [1], "line": 3}', schema, { align: true }).ok).toBe(false);
  });

  test.each([
    ['nativeEnum', z3.nativeEnum({})],
    ['enum', z3.enum([] as unknown as ['a'])],
  ])('accepts no value for an empty zod 3 %s', (_, empty) => {
    const schema = alignable(z3.object({ level: empty.optional(), line: z3.number() }));
    expect(parse('{"line": "3"}', schema, { align: true })).toMatchObject({ ok: true, value: { line: 3 } });
    expect(parse('{"level": "low", "line": 3}', schema, { align: true }).ok).toBe(false);
  });

  test('aligns any schema to the JSON Schema passed with it', () => {
    const customSchema: StandardSchema<unknown, { n: number }> = {
      '~standard': {
        version: 1,
        vendor: 'other',
        validate: (value) =>
          JSON.stringify(value) === '{"n":1}' ? { value: { n: 1 } } : { issues: [{ message: 'must be 1' }] },
      },
    };
    const schema = alignable(customSchema, { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] });
    expect(parse('{"N": "1"}', schema, { align: true })).toMatchObject({ ok: true, value: { n: 1 } });
    expect(parse('{"N": "2"}', schema, { align: true }).ok).toBe(false);
    expect(() => alignable(customSchema, { type: 'objekt' })).toThrow(
      expect.objectContaining({ code: 'INVALID_SCHEMA' }),
    );
  });

  test('exports Effect schemas through its package', () => {
    const exportedSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    const builtin = vi.spyOn(process, 'getBuiltinModule').mockReturnValue({
      createRequire: () => (name: string) =>
        name === 'effect' ? { JSONSchema: { make: () => exportedSchema } } : undefined,
    });
    onTestFinished(() => builtin.mockRestore());
    const effect: StandardSchema = {
      '~standard': { version: 1, vendor: 'effect', validate: (value) => ({ value }) },
    };
    expect(alignable(effect)['~sluice'].align({ n: '1' }).value).toEqual({ n: 1 });
  });

  test('rejects a library without a JSON Schema export, with a hint', () => {
    const customSchema: StandardSchema = {
      '~standard': { version: 1, vendor: 'other', validate: (value) => ({ value }) },
    };
    expect(() => alignable(customSchema)).toThrow(
      expect.objectContaining({
        code: 'ALIGN_UNSUPPORTED',
        message: expect.stringContaining('second argument of alignable') as string,
      }),
    );
  });

  test('names the missing package for valibot schemas', () => {
    const builtin = vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined);
    // Test files share a process: state left by a failing test would make others fail.
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
        message:
          'Cannot express this schema as JSON Schema: no. Pass its JSON Schema as the second argument of alignable.',
      }),
    );
  });
});
