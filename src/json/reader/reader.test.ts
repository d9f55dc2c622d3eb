import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { brokenJson, jsonText, splits } from '../fixtures/arbitraries.js';
import { syntaxCases, validCases } from '../fixtures/reading-cases.js';
import { chooseReader, anyTextRepairs, policies, type RepairCase, tolerantRepairs } from '../fixtures/repair-cases.js';
import type { ReaderPolicy } from './reader-policy.js';
import { type ReadResult, readValue, type ReadValue } from './reader.js';
import { REPAIR_KINDS } from '../repair.js';

/** Returns the fields of a reading to compare, without those that always differ. */
function readChunks(chunks: readonly string[], policy: ReaderPolicy): unknown {
  const ReaderClass = chooseReader(policy);
  const reader = new ReaderClass(policy);
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  const { failure, repairs } = reader.cursor;
  return failure === undefined ? { value: reader.value, repairs } : { failure };
}

function readWhole(text: string, policy: ReaderPolicy): unknown {
  const reading: ReadResult = readValue(text, 0, policy, chooseReader(policy));
  return 'value' in reading ? { value: reading.value, repairs: reading.repairs } : { failure: reading.failure };
}

/** Inputs that the reader refuses or completes, both complete and truncated. */
const refusedInputs = [
  '[...\n`None',
  '["x"\n+y]',
  '{"a":"b","k// x\nx":false}',
  '[[1“,{"/*[ = \n=::"x" 0.001,"1"],-1]',
  '[1, ... 2]',
  '{"a": 1, ... "b": 2}',
  '{"a": ...',
  '["a" + b]',
  '{"a": f(1)}',
  '{"a" 1, b}',
  '{"a": "b" ```',
  '/* x',
  '{"a": tru',
  '[1, "',
  '\\',
  '{"a": "x", b: 5~ y", "c": 1}',
];

const inputs = [
  ...refusedInputs,
  ...[...tolerantRepairs, ...anyTextRepairs].map(({ marked }) => marked.replaceAll('¦', '')),
  ...syntaxCases.map(({ text }) => text),
  ...validCases,
];

describe.each(['tolerant', 'open', 'strict'] as const)('the result does not depend on the chunks (%s)', (name) => {
  const policy = policies[name];

  test.each(inputs)('character by character: %s', (text) => {
    expect(readChunks(text.split(''), policy)).toEqual(readWhole(text, policy));
  });

  test.each(inputs)('split in two at every offset: %s', (text) => {
    const whole = readWhole(text, policy);
    for (let cut = 0; cut <= text.length; cut++)
      expect(readChunks([text.slice(0, cut), text.slice(cut)], policy), `cut at ${cut}`).toEqual(whole);
  });

  test('valid JSON, truncated anywhere', () => {
    fc.assert(
      fc.property(jsonText.chain(splits), (chunks) => {
        expect(readChunks(chunks, policy)).toEqual(readWhole(chunks.join(''), policy));
      }),
    );
  });

  test('broken JSON, truncated anywhere', () => {
    fc.assert(
      fc.property(brokenJson.chain(splits), (chunks) => {
        expect(readChunks(chunks, policy)).toEqual(readWhole(chunks.join(''), policy));
      }),
      { numRuns: 500 },
    );
  });
});

describe('valid JSON', () => {
  test('is read like JSON.parse reads it, without repairs, under every policy', () => {
    fc.assert(
      fc.property(jsonText, fc.constantFrom(...Object.values(policies)), (text, policy) => {
        const reading = readValue(text, 0, { ...policy, numbers: 'double' }, chooseReader(policy));
        expect(reading).toMatchObject({ ok: true, repairs: [] });
        expect(reading.ok && reading.value).toStrictEqual(JSON.parse(text));
      }),
    );
  });
});

const OFFSET = 1000;

function getValue(reading: ReadResult): ReadValue {
  if ('value' in reading) return reading;
  throw new Error(`${reading.failure.code}: ${reading.failure.message} (offset ${reading.failure.offset})`);
}

/** Returns the input without its marks, and the positions of the marks. */
function unmark(marked: string): { readonly text: string; readonly offsets: readonly number[] } {
  const chunks = marked.split('¦');
  let length = 0;
  const offsets = chunks.slice(0, -1).map((chunk) => (length += chunk.length));
  return { text: chunks.join(''), offsets };
}

function expectRepairs({ marked, value, kinds }: RepairCase, policy: (typeof policies)[keyof typeof policies]): void {
  const { text, offsets } = unmark(marked);
  const reading = getValue(readValue(text, 0, policy, chooseReader(policy)));
  expect(reading.value).toStrictEqual(value);
  expect(reading.repairs.map(({ kind, offset }) => [kind, offset])).toEqual(
    kinds.map((kind, index) => [kind, offsets[index]]),
  );
}

describe('each repair has a kind and an offset (¦)', () => {
  test.each(tolerantRepairs)('$marked', (row) => {
    expectRepairs(row, policies.tolerant);
  });

  test.each(anyTextRepairs)('for repairJson: $marked', (row) => {
    expectRepairs(row, policies.anyText);
  });

  test('every kind of repair has a case, except extraction and noise removal, which the reader does not do', () => {
    const kinds = new Set([...tolerantRepairs, ...anyTextRepairs].flatMap((row) => row.kinds));
    expect([...REPAIR_KINDS].filter((kind) => !kinds.has(kind))).toEqual(['noise', 'extracted']);
  });

  test('offsets are relative to the whole input', () => {
    const reading = getValue(readValue('{"a": None}', OFFSET, policies.tolerant));
    expect(reading.repairs[0]?.offset).toBe(OFFSET + 6);
    expect(reading.end).toBe(OFFSET + 11);
  });
});

describe('reading stops at a repair that the policy does not allow', () => {
  test.each([...tolerantRepairs, ...anyTextRepairs])('strict: $marked', ({ marked, kinds }) => {
    const { text } = unmark(marked);
    const reading = readValue(text, 0, policies.strict);
    expect(reading).toMatchObject({ ok: false, failure: { code: kinds[0] === 'truncated' ? 'TRUNCATED' : 'SYNTAX' } });
  });

  test.each(anyTextRepairs.filter(({ kinds }) => kinds.includes('function_call') || kinds.includes('several_values')))(
    'the reader of parse refuses $kinds: $marked',
    ({ marked }) => {
      expect(readValue(unmark(marked).text, 0, policies.tolerant).ok).toBe(false);
    },
  );
});

describe('what follows the value', () => {
  test('an open reading ends after the value, regardless of what follows', () => {
    const reading = getValue(readValue('{"a": 1} and so on {"b"', 0, policies.open));
    expect(reading).toMatchObject({ value: { a: 1 }, end: 8, repairs: [] });
  });

  test('a closed reading refuses text after the value', () => {
    expect(readValue('{"a": 1} and so on', 0, policies.tolerant).ok).toBe(false);
  });

  test('an open reading ends at a fence', () => {
    expect(getValue(readValue('{"a": "x"}\n```\n{"b": 1}', 0, policies.open)).value).toEqual({ a: 'x' });
  });
});

describe('plausible is true if unreadable input looks like JSON', () => {
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
