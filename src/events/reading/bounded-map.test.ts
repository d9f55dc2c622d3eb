import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BoundedMap, BoundedSet } from './bounded-map.js';

const LIMIT = 3;

const commands = fc.array(fc.record({ key: fc.integer({ min: 0, max: 9 }), removes: fc.boolean() }), {
  maxLength: 200,
});

describe('a bounded map', () => {
  const check = (steps: readonly { readonly key: number; readonly removes: boolean }[]): void => {
    const map = new BoundedMap<number, number>(LIMIT);
    const set = new BoundedSet<number>(LIMIT);
    let expected: number[] = [];
    for (const { key, removes } of steps) {
      if (removes) {
        map.delete(key);
        set.delete(key);
        expected = expected.filter((one) => one !== key);
      } else {
        map.set(key, key);
        set.add(key);
        if (!expected.includes(key)) expected = [...expected, key].slice(-LIMIT);
      }
    }
    expect([...map.keys()]).toEqual(expected);
    expect([...set.keys()]).toEqual(expected);
  };

  it('keeps the newest entries, whatever is removed or set again meanwhile', () => {
    fc.assert(fc.property(commands, check));
  });
});
