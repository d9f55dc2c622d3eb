import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { fragmentText, splits } from '../fixtures/arbitraries.js';
import { parse } from '../parse.js';
import type { Path } from '../repair.js';
import { createJsonStream, type DeepPartial, type JsonStreamOptions } from './json-stream.js';

/** Pushes the chunks and returns a copy of the value after each. */
function pushAll(chunks: readonly string[], options: JsonStreamOptions = {}): unknown[] {
  const stream = createJsonStream(undefined, options);
  return chunks.map((chunk) => structuredClone(stream.push(chunk).value));
}

const modelTexts = [
  '{"a": [1, 2.5, true, null, "tw\\u00e9\\n"], "b": {"c": "x"}}',
  '<think>maybe {"a": 0}</think>\nHere you are:\n```json\n{"a": 1, "b": ["x", "y"],}\n```\nDone.',
  'Use {name} and [x]. {"a": "He said "hi" to me", b: \'it\'s\'}',
  '<json>{"draft": 1}</json> better: <json>{"final": [1, 2</json>',
  '{"type":"step"}\n{"type":"result","value":[1,2]}\n',
  '<|channel|>analysis<|message|>{"x":1}<|end|><|start|>assistant<|channel|>final<|message|>{"a": "😀"}<|return|>',
  'thinking aloud {"x": 1}</think>{"answer": "ok"}',
  'No JSON here at all.',
  '"a root string"',
  '[1, 2, {"cut": "in the mid',
];

describe('createJsonStream', () => {
  it('grows the value in place and reports what changed', () => {
    const stream = createJsonStream();
    const first = stream.push('{"items": [{"name": "A');
    expect(first.value).toEqual({ items: [{ name: 'A' }] });
    expect(first.changed).toEqual([[], ['items'], ['items', 0], ['items', 0, 'name']]);
    const root = first.value;
    const second = stream.push('da"}, {"na');
    expect(second.value).toBe(root);
    expect(second.value).toEqual({ items: [{ name: 'Ada' }, {}] });
    expect(second.changed).toEqual([
      ['items', 0, 'name'],
      ['items', 1],
    ]);
    expect(second.complete).toBe(false);
    expect(stream.push('me": 1}]}').complete).toBe(true);
  });

  it('returns a copy that later pushes do not change', () => {
    const stream = createJsonStream();
    stream.push('[1, 2,');
    const copy = stream.copy();
    stream.push(' 3]');
    expect(copy).toEqual([1, 2]);
  });

  it.each([
    ['a line break between sentences', 'Dear Ann,\\nthank you for the long letter that arrived on Monday.'],
    ['a line break after the first word', 'Summary\\n\\nthe results are better than expected'],
    ['lines without spaces', '第一行\\n第二行没有空格也不应该停下来等待更多的字符到达'],
    ['a list', '- a\\n- b\\n- c and much more text'],
    ['an escaped letter', 'caf\\u00e9 and a lot more text after it'],
  ])('does not stop at %s', (_, content) => {
    const stream = createJsonStream();
    let shown = stream.push('{"a": "').value;
    for (const char of content) shown = stream.push(char).value;
    const expected = String(JSON.parse(`"${content}"`));
    expect((shown as { a: string }).a.length).toBeGreaterThan(expected.length - 13);
  });

  it('skips thinking, prose and fences while they stream', () => {
    const text = '<think>{"x":1}</think> Sure:\n```json\n{"a": 1}\n```';
    expect(pushAll([...text]).at(-1)).toEqual({ a: 1 });
    expect(pushAll([...text]).filter((state) => state !== undefined && JSON.stringify(state).includes('x'))).toEqual(
      [],
    );
  });

  it('restarts the root at a later tag', () => {
    const stream = createJsonStream();
    expect(stream.push('<json>{"a": 1}</json> no, ').value).toEqual({ a: 1 });
    const restarted = stream.push('<json>');
    expect(restarted.value).toBeUndefined();
    expect(restarted.changed).toEqual([[]]);
    expect(stream.push('{"b": 2').value).toEqual({});
  });

  it('restarts the root at a later NDJSON line, but not at a later object in prose', () => {
    expect(pushAll(['{"n": 1}\n', '{"n": 2}\n']).at(-1)).toEqual({ n: 2 });
    expect(pushAll(['First {"n": 1}, ', 'then {"n": 2}.']).at(-1)).toEqual({ n: 1 });
  });

  it('reads many lines of one chunk without recursion', () => {
    expect(pushAll(['{"n": 1}\n'.repeat(20_000)])).toEqual([{ n: 1 }]);
  });

  it('discards everything before a lone </think>', () => {
    expect(pushAll(['{"draft": 1}', '</think>', '{"a": 1}'])).toEqual([{ draft: 1 }, undefined, { a: 1 }]);
  });

  it.each<[string, JsonStreamOptions['partial'], unknown]>([
    ['{"a": "hal', {}, { a: 'hal' }],
    ['{"a": "hal', { strings: false }, {}],
    ['{"a": 12', {}, {}],
    ['{"a": 12', { numbers: true }, { a: 12 }],
    ['{"a": tr', {}, {}],
    ['{"a": tr', { literals: true }, { a: true }],
    ['{"a"', {}, {}],
    ['{"a":', { keys: true }, { a: null }],
    ['["a", "b', { strings: false }, ['a']],
  ])('a snapshot of %s with partial %j is %j', (text, partial, expected) => {
    expect(pushAll([text], { partial: partial ?? {} }).at(-1)).toEqual(expected);
  });

  it('never shows half of a surrogate pair or of an escape', () => {
    const text = '{"a": "x\\ud83d\\ude00y😀z\\n"}';
    const visibleStrings = pushAll([...text].flatMap((character) => character.split(''))).flatMap((state) =>
      typeof state === 'object' && state !== null && 'a' in state && typeof state.a === 'string' ? [state.a] : [],
    );
    expect(visibleStrings.every((value) => !/\p{Surrogate}/u.test(value))).toBe(true);
    expect([...new Set(visibleStrings)]).toEqual(['', 'x', 'x😀', 'x😀y', 'x😀y😀', 'x😀y😀z', 'x😀y😀z\n']);
  });

  it('accepts bytes split inside a character', () => {
    const bytes = new TextEncoder().encode('{"a": "é😀"}');
    const stream = createJsonStream();
    for (const byte of bytes) stream.push(Uint8Array.of(byte));
    const result = stream.end();
    expect(result.ok && result.value).toEqual({ a: 'é😀' });
  });

  it('calls subscribers once for every finished value whose path matches', () => {
    const stream = createJsonStream();
    const seen: [unknown, Path][] = [];
    stream.on('items.*', (value, path) => seen.push([structuredClone(value), path]));
    stream.on('items.*.id', (value, path) => seen.push([value, path]));
    for (const character of '{"id": 0, "items": [{"id": 1}, "two"], "other": [3]}') stream.push(character);
    expect(seen).toEqual([
      [1, ['items', 0, 'id']],
      [{ id: 1 }, ['items', 0]],
      ['two', ['items', 1]],
    ]);
  });

  it('ignores text after the complete value if configured to stop there', () => {
    const stream = createJsonStream(undefined, { stopWhenComplete: true });
    expect(stream.push('{"a": 1}').complete).toBe(true);
    stream.push('\n{"a": 2}');
    const result = stream.end();
    expect(result.ok && result.value).toEqual({ a: 1 });
  });

  it('stops reading at the byte limit, and end reports it', () => {
    const stream = createJsonStream(undefined, { limits: { bytes: 10 } });
    expect(stream.push('{"a": 1').value).toEqual({});
    expect(stream.push(', "b": 2}').value).toEqual({});
    const result = stream.end();
    expect(!result.ok && result.status === 'failed' && result.error.code).toBe('LIMIT_EXCEEDED');
  });

  it('does not store text beyond the byte limit', () => {
    const stream = createJsonStream(undefined, { limits: { bytes: 10 } });
    const chunk = 'x'.repeat(2 ** 24);
    // All chunks together exceed V8's maximum string length.
    for (let count = 0; count < 40; count++) stream.push(chunk);
    const result = stream.end();
    expect(!result.ok && result.status === 'failed' && result.error.code).toBe('LIMIT_EXCEEDED');
  });

  it('types the value so far as a deep partial of the schema', () => {
    const stream = createJsonStream(z.object({ user: z.object({ tags: z.array(z.string()) }) }));
    const { value } = stream.push('{"user": {"tags": ["a');
    const tags: string[] | undefined = value?.user?.tags;
    expect(tags).toEqual(['a']);
  });

  it("types the value so far by the schema's input, with tuples and branded scalars", () => {
    const schema = z.object({
      count: z.string().transform(Number),
      pair: z.tuple([z.string(), z.number()]),
      id: z.string().brand<'Id'>(),
      tags: z.array(z.string().brand<'Tag'>()).readonly(),
    });
    const stream = createJsonStream(schema);
    const { value } = stream.push('{"count": "12", "pair": ["a", 1]');
    expectTypeOf(value).toEqualTypeOf<
      { count?: string; pair?: [string?, number?]; id?: string; tags?: string[] } | undefined
    >();
    expectTypeOf<DeepPartial<z.output<typeof schema>>['id']>().toEqualTypeOf<
      z.output<typeof schema>['id'] | undefined
    >();
    expect(value).toEqual({ count: '12', pair: ['a', 1] });
    const result = stream.end();
    if (result.ok) expectTypeOf(result.value.count).toEqualTypeOf<number>();
  });

  it('throws if text is pushed after the end', () => {
    const stream = createJsonStream();
    stream.push('{"a": 1}');
    const result = stream.end();
    expect(() => stream.push('{"b": 2}')).toThrow(expect.objectContaining({ code: 'STREAM_ENDED' }));
    expect(stream.end()).toBe(result);
  });

  describe('validatePartial', () => {
    /** Rejects every finished `line` below 1. */
    const schema = {
      ...z.object({ line: z.number() }),
      '~standard': z.object({ line: z.number() })['~standard'],
      '~sluice': {
        align: (value: unknown) => ({ value, changes: [] }),
        checkPart: (path: Path, value: unknown) =>
          path.at(-1) === 'line' && typeof value === 'number' && value < 1
            ? [{ message: 'must be at least 1', path }]
            : [],
      },
    };

    it('returns the result as soon as a finished part violates the schema', () => {
      const stream = createJsonStream(schema, { validatePartial: true });
      expect(stream.push('{"line": 0').result).toBeUndefined();
      const { result } = stream.push(', "more": "');
      expect(result?.status === 'failed' && result.error.code).toBe('SCHEMA_MISMATCH');
      expect(result?.status === 'failed' && result.error.issues).toEqual([
        { message: 'must be at least 1', path: ['line'] },
      ]);
      expect(stream.end()).toBe(result);
    });

    it('rejects a schema that cannot check parts as misuse', () => {
      expect(() => createJsonStream(z.string(), { validatePartial: true })).toThrow(
        expect.objectContaining({ code: 'PARTIAL_UNSUPPORTED' }),
      );
    });
  });

  it.each(modelTexts)('ends as parse does, for every chunking: %s', (text) => {
    fc.assert(
      fc.property(splits(text), fc.boolean(), (chunks, allowPartial) => {
        const stream = createJsonStream(undefined, { allowPartial });
        for (const chunk of chunks) stream.push(chunk);
        expect(stream.end()).toEqual(parse(text, undefined, { allowPartial }));
      }),
      { numRuns: 30 },
    );
  });

  it('shows the same last state however the input is split', () => {
    fc.assert(
      fc.property(fc.constantFrom(...modelTexts).chain(splits), (chunks) => {
        expect(pushAll(chunks).at(-1)).toEqual(pushAll([...chunks.join('')]).at(-1));
      }),
    );
  });

  it('shows only final scalars, for every prefix of valid JSON', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 7 }),
        (value, isPretty, size) => {
          const text = JSON.stringify(value, null, isPretty ? 2 : 0);
          const stream = createJsonStream(undefined, { partial: { strings: false } });
          for (let at = 0; at < text.length; at += size)
            expectPrefix(stream.push(text.slice(at, at + size)).value, value);
          expectPrefix(stream.push('\n').value, JSON.parse(text));
          const result = stream.end();
          expect(result.ok && result.value).toEqual(JSON.parse(text));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('never throws, whatever input arrives', () => {
    fc.assert(
      fc.property(fragmentText.chain(splits), (chunks) => {
        const stream = createJsonStream();
        for (const chunk of chunks) stream.push(chunk);
        expect(stream.end()).toEqual(parse(chunks.join('')));
      }),
      { numRuns: 500 },
    );
  });
});

/** Checks that `whole` contains everything in `part` at the same path, with equal scalars. */
function expectPrefix(part: unknown, whole: unknown): void {
  expect(isPrefix(part, whole), `${JSON.stringify(part)} in ${JSON.stringify(whole)}`).toBe(true);
}

function isPrefix(part: unknown, whole: unknown): boolean {
  if (part === undefined || Object.is(part, whole) || (part === 0 && whole === 0)) return true;
  if (typeof part !== 'object' || typeof whole !== 'object' || part === null || whole === null) return false;
  const members = new Map<string, unknown>(Object.entries(whole));
  return (
    Array.isArray(part) === Array.isArray(whole) &&
    Object.entries(part).every(([key, member]) => members.has(key) && isPrefix(member, members.get(key)))
  );
}
