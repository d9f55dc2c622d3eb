import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scrub } from '../scripts/record/scrub.js';

describe('scrub', () => {
  it('replaces local paths with placeholders, the first listed first', () => {
    const pairs = [
      ['/tmp/x/work', '/workspace'],
      ['/tmp/x', '/data'],
    ] as const;
    const { bytes } = scrub(Buffer.from('é in /tmp/x/work and /tmp/x/home (/tmp.x)'), pairs);
    expect(bytes.toString()).toBe('é in /workspace and /data/home (/tmp.x)');
  });

  it('converts every offset, even inside a replaced string', () => {
    const { moveOffset } = scrub(Buffer.from('ab/long/cd'), [['/long', '/s']]);
    expect([0, 2, 3, 5, 7, 8, 10].map((offset) => moveOffset(offset))).toEqual([0, 2, 4, 4, 4, 5, 7]);
  });

  it('keeps every byte, however the bytes were split', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('/long/', 'x', '界', '/lon'), { maxLength: 20 }),
        fc.array(fc.nat(60)),
        (words, cuts) => {
          const bytes = Buffer.from(words.join(''));
          const replaced = scrub(bytes, [['/long/', '/s/']]);
          const edges = [0, ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length];
          const offsets = edges.map((edge) => replaced.moveOffset(edge));
          expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
          expect(offsets[0]).toBe(0);
          expect(offsets.at(-1)).toBe(replaced.bytes.length);
        },
      ),
    );
  });
});
