import { fromJsonSchema } from '../from-json-schema.js';
import { describe, expect, it } from 'vitest';

const numberOrFlag = { anyOf: [{ type: 'number' }, { type: 'boolean' }] };

/** With two alternatives each, more views than one value is allowed to create. */
const VALUES = 3000;

describe('a schema after many values', () => {
  it.each([
    ['keys that each value makes up', { additionalProperties: numberOrFlag }, (index: number) => `key ${index}`],
    [
      'a property that two schemas describe',
      { properties: { a: numberOrFlag }, allOf: [{ properties: { a: { title: 'A' } } }] },
      () => 'a',
    ],
  ])('aligns the next value like the first: %s', (_, schema, createKey) => {
    const { align } = fromJsonSchema({ type: 'object', ...schema })['~sluice'];
    for (let index = 0; index < VALUES; index += 1) {
      const key = createKey(index);
      expect(align({ [key]: '3' }).value).toEqual({ [key]: 3 });
    }
  });

  it("still reports a part's issues", () => {
    const allOf = [{ properties: { a: numberOrFlag } }, { properties: { a: { title: 'A' } } }];
    const { checkPart } = fromJsonSchema({ allOf })['~sluice'];
    for (let index = 0; index < VALUES; index += 1) expect(checkPart(['a', 'b'], 1)).toHaveLength(1);
  });
});
