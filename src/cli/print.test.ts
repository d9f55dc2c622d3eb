import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { resolveLimits } from '../json/index.js';
import { createMemoryIo } from './fixtures/memory-io.js';
import { printRows, renderJson } from './print.js';

const COLUMNS = { ID: 'id', WHY: ({ why }: { why: string | null }) => why } as const;

async function print(rows: readonly { id: number; why: string | null }[], json: boolean, isTerminal: boolean) {
  const io = createMemoryIo({}, { isTerminal });
  await printRows(rows, COLUMNS, { json }, io);
  return io.printed.stdout;
}

describe('rows', () => {
  it('are a table at a terminal, one line each, with control characters escaped', async () => {
    const rows = [
      { id: 1, why: 'two\nlines\u001b[2J' },
      { id: 100, why: null },
      { id: 2, why: 'x'.repeat(100) },
    ];
    expect(await print(rows, false, true)).toBe(`ID   WHY\n1    two lines␛[2J\n100  –\n2    ${'x'.repeat(59)}…\n`);
  });

  it('are shortened without splitting a character', async () => {
    expect(await print([{ id: 1, why: `${'x'.repeat(58)}😀😀` }], false, true)).toBe(
      `ID  WHY\n1   ${'x'.repeat(58)}…\n`,
    );
  });

  it('are a JSON array on request, and if the output is not a terminal', async () => {
    const rows = [{ id: 1, why: 'x' }];
    expect(JSON.parse(await print(rows, true, true))).toEqual(rows);
    expect(await print(rows, false, false)).toBe(`${JSON.stringify(rows)}\n`);
  });

  it('can be printed up to the limit', async () => {
    const rows = Array.from({ length: 200_000 }, (_, id) => ({ id, why: null }));
    expect((await print(rows, false, true)).split('\n')).toHaveLength(200_002);
  });
});

describe('renderJson', () => {
  it('writes the same value as JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
        expect(JSON.parse(renderJson(value, indent))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('indents like JSON.stringify', () => {
    const value = { a: [1, { b: null }], c: {}, d: [], e: 'x' };
    expect(renderJson(value, 2)).toBe(JSON.stringify(value, null, 2));
    expect(renderJson(value)).toBe(JSON.stringify(value));
  });

  it('writes a bigint as a number', () => {
    expect(renderJson({ id: 12345678901234567890n, text: '12' })).toBe('{"id":12345678901234567890,"text":"12"}');
    expect(renderJson([-1n], 2)).toBe('[\n  -1\n]');
  });

  it('omits undefined members', () => {
    expect(renderJson({ a: undefined, b: 1 })).toBe('{"b":1}');
  });

  it('escapes control characters that a terminal might interpret', () => {
    expect(renderJson('\u001B[31m\u009B31m\u007F')).toBe(String.raw`"\u001b[31m\u009b31m\u007f"`);
  });

  it('writes values as deep as the parser returns them', () => {
    const depth = resolveLimits(undefined).depth;
    let value: unknown = 1;
    for (let level = 0; level < depth; level += 1) value = [value];
    expect(renderJson(value)).toBe(`${'['.repeat(depth)}1${']'.repeat(depth)}`);
  });
});
