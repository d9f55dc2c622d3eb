import { describe, expect, test } from 'vitest';
import { generousRepairs, tolerantRepairs, type RepairCase } from '../fixtures/repair-cases.js';
import { policies } from '../fixtures/policies.js';
import { REPAIR_KINDS } from '../repair.js';
import { readValue, type ReadValue, type Reading } from './read-value.js';

const OFFSET = 1000;

function valueOf(reading: Reading): ReadValue {
  if ('value' in reading) return reading;
  throw new Error(`${reading.failure.code}: ${reading.failure.message} (offset ${reading.failure.offset})`);
}

/** The text without its marks, and where they stood. */
function unmark(marked: string): { readonly text: string; readonly offsets: readonly number[] } {
  const pieces = marked.split('¦');
  let length = 0;
  const offsets = pieces.slice(0, -1).map((piece) => (length += piece.length));
  return { text: pieces.join(''), offsets };
}

function expectRepairs({ marked, value, kinds }: RepairCase, policy: (typeof policies)[keyof typeof policies]): void {
  const { text, offsets } = unmark(marked);
  const reading = valueOf(readValue(text, 0, policy));
  expect(reading.value).toStrictEqual(value);
  expect(reading.repairs.map(({ kind, offset }) => [kind, offset])).toEqual(
    kinds.map((kind, index) => [kind, offsets[index]]),
  );
}

describe('each repair has a kind and a place (¦)', () => {
  test.each(tolerantRepairs)('$marked', (row) => {
    expectRepairs(row, policies.tolerant);
  });

  test.each(generousRepairs)('for repairJson: $marked', (row) => {
    expectRepairs(row, policies.generous);
  });

  test('no kind is without a case; only cutting out is not the reader’s work', () => {
    const kinds = new Set([...tolerantRepairs, ...generousRepairs].flatMap((row) => row.kinds));
    expect([...REPAIR_KINDS].filter((kind) => !kinds.has(kind))).toEqual(['extracted']);
  });

  test('offsets count from where the text stands in the whole', () => {
    const reading = valueOf(readValue('{"a": None}', OFFSET, policies.tolerant));
    expect(reading.repairs[0]?.offset).toBe(OFFSET + 6);
    expect(reading.end).toBe(OFFSET + 11);
  });
});

describe('a repair the policy does not allow ends the reading', () => {
  test.each([...tolerantRepairs, ...generousRepairs])('strict: $marked', ({ marked, kinds }) => {
    const { text } = unmark(marked);
    const reading = readValue(text, 0, policies.strict);
    expect(reading).toMatchObject({ ok: false, failure: { code: kinds[0] === 'truncated' ? 'TRUNCATED' : 'SYNTAX' } });
  });

  test.each(generousRepairs.filter(({ kinds }) => kinds.includes('function_call') || kinds.includes('several_values')))(
    'the reader of parse takes no $kinds: $marked',
    ({ marked }) => {
      expect(readValue(unmark(marked).text, 0, policies.tolerant).ok).toBe(false);
    },
  );
});

describe('what follows the value', () => {
  test('an open reading ends behind the value, whatever follows', () => {
    const reading = valueOf(readValue('{"a": 1} and so on {"b"', 0, policies.open));
    expect(reading).toMatchObject({ value: { a: 1 }, end: 8, repairs: [] });
  });

  test('a closed reading refuses text behind the value', () => {
    expect(readValue('{"a": 1} and so on', 0, policies.tolerant).ok).toBe(false);
  });

  test('an open reading ends at a fence', () => {
    expect(valueOf(readValue('{"a": "x"}\n```\n{"b": 1}', 0, policies.open)).value).toEqual({ a: 'x' });
  });
});

describe('plausible: does a text that cannot be read look like JSON?', () => {
  test.each(['{"a": 1, "b" f(x)}', '{"a": f(x)}', '[1, f(x)]', '[[', '{"a": ['])('yes: %s', (text) => {
    expect(readValue(text, 0, policies.strict)).toMatchObject({ ok: false, plausible: true });
  });

  test.each(['{name}', '{ return 1; }', '[x] done', '{', 'prose', '}'])('no: %s', (text) => {
    expect(readValue(text, 0, policies.strict)).toMatchObject({ ok: false, plausible: false });
  });
});

describe('depth', () => {
  test.each(['[[[1]]]', '{"a": {"b": {}}}', '[{"a": [1]}]'])('is counted in containers: %s', (text) => {
    expect(readValue(text, 0, { ...policies.tolerant, depth: 3 }).ok).toBe(true);
    expect(readValue(text, 0, { ...policies.tolerant, depth: 2 })).toMatchObject({
      ok: false,
      failure: { code: 'LIMIT_EXCEEDED' },
    });
  });
});
