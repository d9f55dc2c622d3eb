import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseReader } from '../fixtures/repair-cases.js';
import { readPlainRun } from './plain-run.js';
import { createReaderPolicy, ALL_REPAIRS, type ReaderPolicy } from './reader-policy.js';
import { ValueBuilder } from './value-builder.js';

const limits = { bytes: 1e9, depth: 1000, candidates: 256 };
const REFUSING = createReaderPolicy({ numbers: 'double', limits }, ALL_REPAIRS, true);
const ANY_TEXT: ReaderPolicy = {
  repairs: ALL_REPAIRS,
  acceptsAnyText: true,
  rootMustEnd: true,
  numbers: 'double',
  depth: 1000,
};

class SlowBuilder extends ValueBuilder {
  override readonly runs = undefined;
}

/** Returns all fields of a reading. */
function read(text: string, policy: ReaderPolicy, readsEachToken: boolean): unknown {
  const ReaderClass = chooseReader(policy);
  const reader = new ReaderClass(policy, 7, readsEachToken ? new SlowBuilder() : undefined);
  reader.push(text);
  reader.end();
  const { cursor, structure, value } = reader;
  const { plausible, builder } = structure;
  const { duplicates } = builder;
  return { value, repairs: cursor.repairs, failure: cursor.failure, at: cursor.at, plausible, duplicates };
}

const RECORD = fc.record(
  {
    id: fc.oneof(fc.nat(), fc.constantFrom(1e21, 12345678901234567890n.toString(), -0.5)),
    text: fc.constantFrom(
      'plain',
      'say "no", then',
      'C:\\new\\table',
      'a\nb\\foo',
      ': colon',
      '":',
      'x:y',
      '',
      '中文',
      "it's",
    ),
    tags: fc.array(fc.constantFrom('a', 'b,c', '] }', '"'), { maxLength: 3 }),
    mixed: fc.array(fc.constantFrom('a\nb\\foo', 1, null, true, [], {}), { maxLength: 3 }),
    range: fc.record({ start: fc.nat(99), end: fc.constantFrom(null, [[1]], [{ a: [{ b: 1 }] }]) }),
  },
  { requiredKeys: ['id'] },
);
const DAMAGE = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    removed: fc.nat(2),
    added: fc.constantFrom(
      '',
      ',',
      '"',
      "'",
      '}',
      ']',
      '{',
      '[',
      ':',
      '\\',
      '\n',
      '// x\n',
      '"id": 1, ',
      'x',
      '...',
      '```',
    ),
  }),
  { maxLength: 4 },
);
const DAMAGED = fc
  .tuple(fc.array(RECORD, { minLength: 20, maxLength: 60 }), fc.constantFrom(0, 1, 2), DAMAGE, fc.boolean())
  .map(([records, indent, damage, isWrapped]) => {
    let text = JSON.stringify(isWrapped ? { findings: records, a: 1 } : records, null, indent);
    for (const { at, removed, added } of damage) {
      const place = Math.floor(at * text.length);
      text = text.slice(0, place) + added + text.slice(place + removed);
    }
    return text;
  });

describe('a run of plain items', () => {
  test.each([
    ['with refusals', REFUSING],
    ['as any text', ANY_TEXT],
  ])('read %s, damaged input has the same result as token by token', (_, policy) => {
    fc.assert(
      fc.property(DAMAGED, (text) => {
        expect(read(text, policy, false)).toEqual(read(text, policy, true));
      }),
      { numRuns: 300 },
    );
  });

  const items = Array.from({ length: 40 }, (_, id) => JSON.stringify({ id, name: 'a name', list: [id] })).join(', ');

  test('is read up to the end of the last complete item', () => {
    const run = readPlainRun(`${items}, {"id": 1,}]`, 0);
    expect(run).toMatchObject({ length: items.length });
    expect(run?.items).toHaveLength(40);
  });

  test('extends to the end of the list if structure follows', () => {
    expect(readPlainRun(`${items}]}`, 0)).toMatchObject({ length: items.length });
    expect(readPlainRun(`${items}] and`, 0)?.items).toHaveLength(39);
  });

  test.each([
    ['is short', '{"id": 1}, {"id": 2}, '],
    ['has a duplicate key', items.replace('"name"', '"id"')],
  ])('is left to the reader if it %s', (_, text) => {
    expect(readPlainRun(`${text}, 1]`, 0)).toBeUndefined();
  });

  test('is left to the reader if numbers are kept and a double would lose digits', () => {
    expect(readPlainRun(`${items}, 1]`, 0, true)).toBeDefined();
    expect(readPlainRun(`${items.replace('"id":', '"id":9007199254740993')}, 1]`, 0, true)).toBeUndefined();
    const text = `[${items.replaceAll('"id":', '"id":9007199254740993')}, {"id": 1,}]`;
    expect(read(text, { ...REFUSING, numbers: 'raw' }, false)).toEqual(
      read(text, { ...REFUSING, numbers: 'raw' }, true),
    );
  });

  test('searches a bounded part of the input', () => {
    const long = `${items}, `.repeat(100);
    expect(readPlainRun(`${long}1]`, 0)?.length).toBeLessThan(16_385);
    expect(readPlainRun(`{"a": "${'x'.repeat(20_000)}"}, 1]`, 0)).toBeUndefined();
  });
});
