import { describe, expect, it } from 'vitest';
import { fromJsonSchema, fromRecordSchema } from './from-json-schema.js';

const SCHEMA = {
  type: 'object',
  properties: { name: { type: 'string', pattern: '^[a-z]+$' }, parts: { type: 'array', items: { type: 'integer' } } },
  required: ['name'],
  additionalProperties: false,
} as const;

describe('fromRecordSchema', () => {
  it.each([
    { name: 'a', parts: [1, 2] },
    { name: 'a', parts: [1, '2'] },
    { name: 'A' },
    { parts: [] },
    { name: 'a', other: 1 },
    [],
    null,
    'a',
  ])('gives the same result as fromJsonSchema for %j', (value) => {
    const expected = fromJsonSchema(SCHEMA)['~standard'].validate(value);
    expect(fromRecordSchema(SCHEMA)['~standard'].validate(value)).toEqual(expected);
  });

  it('reads the schema on the first check, and only once', () => {
    let reads = 0;
    const schema = {
      get type() {
        reads += 1;
        return 'string';
      },
    };
    const { validate } = fromRecordSchema(schema)['~standard'];
    expect(reads).toBe(0);
    expect(validate('a')).toEqual({ value: 'a' });
    const first = reads;
    expect(validate('b')).toEqual({ value: 'b' });
    expect({ first: first > 0, later: reads }).toEqual({ first: true, later: first });
  });
});
