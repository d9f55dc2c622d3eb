import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSluiceError } from '../base/sluice-error.js';
import { randomDocument, randomValue } from './fixtures/random-schemas.js';
import { fromJsonSchema } from './from-json-schema.js';

/** Creates one of the two validators; undefined if it rejects the schema. */
function createValidator(schema: object, trusted: boolean) {
  try {
    return fromJsonSchema(schema, { trusted })['~standard'].validate;
  } catch (error) {
    if (isSluiceError(error) && error.message.includes('refers to itself')) return undefined;
    throw error;
  }
}

describe('the compiled and the interpreting validator', () => {
  test('give the same result and the same issues for every schema and value', () => {
    let passed = 0;
    let failed = 0;
    fc.assert(
      fc.property(randomDocument, fc.array(randomValue, { minLength: 6, maxLength: 6 }), (schema, values) => {
        const [compiled, interpreted] = [createValidator(schema, true), createValidator(schema, false)];
        expect(interpreted === undefined, 'both accept the schema, or neither').toBe(compiled === undefined);
        fc.pre(compiled !== undefined);
        for (const value of values) {
          const result = compiled?.(value);
          expect(interpreted?.(value)).toEqual(result);
          if (result !== undefined && 'value' in result) passed += 1;
          else failed += 1;
        }
      }),
      { numRuns: 200 },
    );
    expect(Math.min(passed, failed)).toBeGreaterThan(100);
  }, 30_000);

  test('return a valid value unchanged', () => {
    const value = { a: [1, { b: 2 }], __proto__: null };
    for (const trusted of [true, false]) {
      const result = fromJsonSchema({ default: 1 }, { trusted })['~standard'].validate(value);
      expect(result).toEqual({ value });
      expect('value' in result && result.value).toBe(value);
    }
  });
});
