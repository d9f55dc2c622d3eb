import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { align } from './collections.js';

describe('an alignment', () => {
  it.each([
    ['equal sequences', 'abc', 'abc', [0, 1, 2]],
    ['a gap in main', 'ac', 'abc', [0, -1, 1]],
    ['a gap in the other', 'abc', 'ac', [0, 2]],
    ['real repeats', 'aab', 'aab', [0, 1, 2]],
    ['one repeat lost', 'ab', 'aab', [0, -1, 1]],
    ['nothing in common', 'ab', 'cd', [-1, -1]],
    ['nothing at all', '', '', []],
  ])('pairs %s', (_, main, other, partners) => {
    expect(align([...main], [...other])).toEqual(partners);
  });

  it('pairs equal elements, in order, each once', () => {
    const words = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 20 });
    fc.assert(
      fc.property(words, words, (main, other) => {
        const partners = align(main, other);
        const pairedIndexes = partners.filter((partner) => partner >= 0);
        expect(pairedIndexes).toEqual([...new Set(pairedIndexes)].toSorted((left, right) => left - right));
        const pairs = partners.map((partner, index) => [main[partner], partner < 0 ? undefined : other[index]]);
        expect(pairs.every(([left, right]) => left === right)).toBe(true);
      }),
    );
  });

  it('pairs all remaining elements if some were only removed', () => {
    const words = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 20 });
    fc.assert(
      fc.property(words, fc.func(fc.boolean()), (main, isKept) => {
        const other = main.filter((_, index) => isKept(index));
        expect(align(main, other)).not.toContain(-1);
      }),
    );
  });
});
