import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { generousRepairs, tolerantRepairs } from '../fixtures/repair-cases.js';
import { brokenJson, jsonText, splits } from '../fixtures/arbitraries.js';
import { policies } from '../fixtures/policies.js';
import { syntaxCases } from '../fixtures/cases/syntax-cases.js';
import { validCases } from '../fixtures/cases/valid-cases.js';
import { readValue, type Reading } from './read-value.js';
import { Reader } from './reader.js';
import type { ReaderPolicy } from './reader-policy.js';

/** What can be told about a reading, without what differs by nature. */
function readPieces(pieces: readonly string[], policy: ReaderPolicy): unknown {
  const reader = new Reader(policy);
  for (const piece of pieces) reader.push(piece);
  reader.end();
  const { failure, repairs } = reader.source;
  return failure === undefined ? { value: reader.value, repairs } : { failure };
}

function readWhole(text: string, policy: ReaderPolicy): unknown {
  const reading: Reading = readValue(text, 0, policy);
  return 'value' in reading ? { value: reading.value, repairs: reading.repairs } : { failure: reading.failure };
}

/** Texts the reader refuses or completes, whole or cut. */
const refusedTexts = [
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
];

const texts = [
  ...refusedTexts,
  ...[...tolerantRepairs, ...generousRepairs].map(({ marked }) => marked.replaceAll('¦', '')),
  ...syntaxCases.map(({ text }) => text),
  ...validCases,
];

describe.each(['tolerant', 'open', 'strict'] as const)('how the text is cut leaves no trace (%s)', (name) => {
  const policy = policies[name];

  test.each(texts)('character by character: %s', (text) => {
    expect(readPieces(text.split(''), policy)).toEqual(readWhole(text, policy));
  });

  test.each(texts)('cut in two at every place: %s', (text) => {
    const whole = readWhole(text, policy);
    for (let cut = 0; cut <= text.length; cut++)
      expect(readPieces([text.slice(0, cut), text.slice(cut)], policy), `cut at ${cut}`).toEqual(whole);
  });

  test('valid JSON, any cut', () => {
    fc.assert(
      fc.property(jsonText.chain(splits), (pieces) => {
        expect(readPieces(pieces, policy)).toEqual(readWhole(pieces.join(''), policy));
      }),
    );
  });

  test('broken JSON, any cut', () => {
    fc.assert(
      fc.property(brokenJson.chain(splits), (pieces) => {
        expect(readPieces(pieces, policy)).toEqual(readWhole(pieces.join(''), policy));
      }),
      { numRuns: 500 },
    );
  });
});

describe('valid JSON', () => {
  test('is read as JSON.parse reads it, without a repair, whatever the policy', () => {
    fc.assert(
      fc.property(jsonText, fc.constantFrom(...Object.values(policies)), (text, policy) => {
        const reading = readValue(text, 0, { ...policy, numbers: 'double' });
        expect(reading).toMatchObject({ ok: true, repairs: [] });
        expect(reading.ok && reading.value).toStrictEqual(JSON.parse(text));
      }),
    );
  });
});
