import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSluiceError } from '../../../base/sluice-error.js';
import { randomDocument, randomValue } from '../fixtures/random-schemas.js';
import { replayChanges } from '../fixtures/replay-changes.js';
import { fromJsonSchema } from '../from-json-schema.js';
import type { AlignableSchema } from '../../schema.js';

/** Simple schemas, as found in prompts, so alignment often succeeds. */
const plainSchema: fc.Arbitrary<object> = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<object>(
      { type: 'string' },
      { type: 'number' },
      { type: 'integer', minimum: 0 },
      { type: 'boolean' },
      { type: ['number', 'null'] },
      { enum: ['low', 'high', 'Very High'] },
      { const: 'a' },
      { type: 'string', format: 'date' },
    ),
    fc.record({ type: fc.constant('array'), items: tie('schema') }),
    fc
      .record({
        properties: fc.dictionary(fc.constantFrom('a', 'b', 'firstName', 'c_d'), tie('schema'), {
          minKeys: 1,
          maxKeys: 3,
          noNullPrototype: true,
        }),
        isClosed: fc.boolean(),
        isStrict: fc.boolean(),
      })
      .map(({ properties, isClosed, isStrict }) => ({
        type: 'object',
        properties,
        required: isStrict ? Object.keys(properties) : Object.keys(properties).slice(0, 1),
        ...(isClosed ? { additionalProperties: false } : {}),
      })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
  ),
})).schema;

const messyValue: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<unknown>(
      '1',
      '$2,000',
      'yes',
      'LOW',
      'High (!)',
      'very_high',
      'N/A',
      null,
      3,
      true,
      '',
      'a',
      'A',
      '2024/01/15',
      'I cannot',
      '["1"]',
      '{"a":"1"}',
      'not low',
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'A', 'b', 'first_name', 'First Name', 'cD', 'result', 'error'), tie('value'), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
})).value;

/** Interprets a random schema; undefined if it is rejected. */
function interpretIfValid(document: object): AlignableSchema | undefined {
  try {
    return fromJsonSchema(document, { trusted: false });
  } catch (error) {
    if (isSluiceError(error)) return undefined;
    throw error;
  }
}

function checkAlignment(schema: AlignableSchema, value: unknown): 'valid' | 'aligned' | 'refused' {
  const isValid = (candidate: unknown) => 'value' in schema['~standard'].validate(candidate);
  const before = JSON.stringify(value);
  const { value: aligned, changes } = schema['~sluice'].align(value);
  expect(JSON.stringify(value), 'the given value is not changed').toBe(before);
  expect(replayChanges(value, changes), 'the changes lead from the given value to the result').toEqual(aligned);
  expect(schema['~sluice'].align(value), 'the same value gives the same result').toEqual({ value: aligned, changes });
  expect(schema['~sluice'].align(aligned), 'aligning again changes nothing').toEqual({ value: aligned, changes: [] });
  if (!isValid(value)) return isValid(aligned) ? 'aligned' : 'refused';
  expect(changes, 'a valid value is not changed').toEqual([]);
  expect(aligned).toBe(value);
  return 'valid';
}

test('alignment is pure, deterministic, idempotent and replayable, and does not change valid values', () => {
  const seen = { valid: 0, aligned: 0, refused: 0 };
  fc.assert(
    fc.property(plainSchema, fc.array(messyValue, { minLength: 5, maxLength: 5 }), (document, values) => {
      const schema = fromJsonSchema(document, { trusted: false });
      for (const value of values) seen[checkAlignment(schema, value)] += 1;
    }),
    { numRuns: 200 },
  );
  expect(Math.min(seen.valid, seen.aligned, seen.refused)).toBeGreaterThan(20);
}, 30_000);

test('alignment has the same properties for schemas with every keyword', () => {
  fc.assert(
    fc.property(
      randomDocument,
      fc.array(fc.oneof(randomValue, messyValue), { minLength: 4, maxLength: 4 }),
      (document, values) => {
        const schema = interpretIfValid(document);
        fc.pre(schema !== undefined);
        for (const value of values) if (schema !== undefined) checkAlignment(schema, value);
      },
    ),
    { numRuns: 150 },
  );
});

/** Fragments of answers that are nearly JSON. */
const fragment = fc.constantFrom(
  '{',
  '}',
  '[',
  ']',
  '(',
  ')',
  ',',
  ', ',
  ': ',
  '\n',
  ' ',
  '"a"',
  '"b": ',
  "'c_d': ",
  'firstName: ',
  '1',
  '2.50',
  'true',
  '"x y"',
  'some words',
  'low',
  '- item',
  '```',
  '<function=f>',
  '<parameter=a>',
  '</parameter>',
  '</function>',
  '"',
);

function collectStrings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(collectStrings);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(collectStrings) : [];
}

test('readText returns only valid values whose strings occur in the input', () => {
  let read = 0;
  fc.assert(
    fc.property(
      plainSchema,
      fc.array(fc.array(fragment, { maxLength: 14 }), { minLength: 8, maxLength: 8 }),
      (document, lists) => {
        const schema = fromJsonSchema(document, { trusted: false });
        for (const text of lists.map((fragments) => fragments.join(''))) {
          const { value, changes } = schema['~sluice'].readText?.(text) ?? { value: text, changes: [] };
          if (changes.length === 0) continue;
          read += 1;
          expect(schema['~standard'].validate(value)).toEqual({ value });
          expect(replayChanges(text, changes)).toEqual(value);
          for (const part of collectStrings(changes[0]?.to)) expect(text).toContain(part);
        }
      },
    ),
    { numRuns: 300 },
  );
  expect(read).toBeGreaterThan(5);
});
