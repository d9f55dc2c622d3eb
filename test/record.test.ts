import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scrub } from '../scripts/record/scrub.js';

describe('scrub', () => {
  it('replaces texts of this machine by those of all recordings, the first listed first', () => {
    const pairs = [
      ['/tmp/x/work', '/workspace'],
      ['/tmp/x', '/data'],
    ] as const;
    const { bytes } = scrub(Buffer.from('é in /tmp/x/work and /tmp/x/home (/tmp.x)'), pairs);
    expect(bytes.toString()).toBe('é in /workspace and /data/home (/tmp.x)');
  });

  it('maps every place, also for a piece that ended inside of a text', () => {
    const { place } = scrub(Buffer.from('ab/long/cd'), [['/long', '/s']]);
    expect([0, 2, 3, 5, 7, 8, 10].map((offset) => place(offset))).toEqual([0, 2, 4, 4, 4, 5, 7]);
  });

  it('keeps every byte in one piece, however the bytes were cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('/long/', 'x', '界', '/lon'), { maxLength: 20 }),
        fc.array(fc.nat(60)),
        (words, cuts) => {
          const bytes = Buffer.from(words.join(''));
          const scrubbed = scrub(bytes, [['/long/', '/s/']]);
          const edges = [0, ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length];
          const places = edges.map((edge) => scrubbed.place(edge));
          expect(places).toEqual(places.toSorted((a, b) => a - b));
          expect(places[0]).toBe(0);
          expect(places.at(-1)).toBe(scrubbed.bytes.length);
        },
      ),
    );
  });
});
