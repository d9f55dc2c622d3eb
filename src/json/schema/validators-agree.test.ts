import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSluiceError } from '../../base/sluice-error.js';
import { randomDocument, randomValue } from './fixtures/random-schemas.js';
import { FORMATS } from './formats.js';
import { fromJsonSchema } from './from-json-schema.js';
import { isJsonObject } from './json-schema.js';
import { hasUniqueItems, isMultipleOf } from './json-values.js';
import { toRegExp } from './patterns/pattern.js';
import { TRUSTED_BOUNDS } from './read-schema.js';
import { readDocument } from './schema-references.js';

/** Creates a validator; undefined if it rejects the schema. */
function createValidator(schema: object, trusted: boolean) {
  try {
    return fromJsonSchema(schema, { trusted })['~standard'].validate;
  } catch (error) {
    if (isSluiceError(error) && error.message.includes('refers to itself')) return undefined;
    throw error;
  }
}

/** Creates Ajv's verdict as an independent reference; undefined for schemas that Ajv handles incorrectly. */
function createAjvValidator(schema: object): ((value: unknown) => boolean) | undefined {
  const { node } = readDocument(schema, TRUSTED_BOUNDS).root;
  if (isWrongInAjv(node)) return undefined;
  const ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    meta: false,
    logger: false,
    ownProperties: true,
    formats: Object.fromEntries(FORMATS),
    code: { regExp: Object.assign((source: string) => toRegExp(source, '#'), { code: 'sluice' }) },
  });
  // Ajv divides doubles and compares items pairwise; both have separate tests.
  for (const keyword of ['uniqueItems', 'multipleOf']) ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    validate: (isUnique: boolean, items: readonly unknown[]) => !isUnique || hasUniqueItems(items),
  });
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    validate: (divisor: number, value: number) => isMultipleOf(value, divisor),
  });
  return ajv.compile(node);
}

/**
 * Keywords that Ajv 8.20 handles incorrectly: tracking evaluated keys can throw; `contains` with a reference to `true`
 * accepts an empty list; a property named `__proto__` is not checked. The interpreter follows dynamic references like
 * plain ones.
 */
const WRONG_IN_AJV = new Set(['unevaluatedItems', 'unevaluatedProperties', 'contains', '$dynamicRef', '__proto__']);

function isWrongInAjv(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(isWrongInAjv);
  if (!isJsonObject(schema)) return false;
  return Object.keys(schema).some((key) => WRONG_IN_AJV.has(key) || isWrongInAjv(schema[key]));
}

describe('validation of trusted and untrusted schemas', () => {
  test('gives the same result and the same issues for every schema and value, and the verdict of Ajv', () => {
    let passed = 0;
    let failed = 0;
    let compared = 0;
    fc.assert(
      fc.property(randomDocument, fc.array(randomValue, { minLength: 6, maxLength: 6 }), (schema, values) => {
        const [trusted, untrusted] = [createValidator(schema, true), createValidator(schema, false)];
        expect(untrusted === undefined, 'both accept the schema, or neither').toBe(trusted === undefined);
        fc.pre(trusted !== undefined);
        const ajv = createAjvValidator(schema);
        for (const value of values) {
          const result = trusted?.(value);
          expect(untrusted?.(value)).toEqual(result);
          const isValid = result !== undefined && 'value' in result;
          expect(ajv?.(value) ?? isValid).toBe(isValid);
          if (ajv !== undefined) compared += 1;
          if (isValid) passed += 1;
          else failed += 1;
        }
      }),
      { numRuns: 200 },
    );
    expect(Math.min(passed, failed, compared)).toBeGreaterThan(100);
  }, 30_000);

  test('returns a valid value unchanged', () => {
    const value = { a: [1, { b: 2 }], __proto__: null };
    for (const trusted of [true, false]) {
      const result = fromJsonSchema({ default: 1 }, { trusted })['~standard'].validate(value);
      expect(result).toEqual({ value });
      expect('value' in result && result.value).toBe(value);
    }
  });
});
