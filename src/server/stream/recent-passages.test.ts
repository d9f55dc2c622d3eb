import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Passage } from './passage.js';
import { createRecentPassages } from './recent-passages.js';

const at = (seq: number) => ({ attempt: 0, seq });

/** A passage in which each event is its number and a comma, or nothing if it is a multiple of five. */
function passage(from: number, count: number): Passage {
  const parts: { position: { attempt: number; seq: number }; end: number }[] = [];
  let text = '';
  for (let seq = from + 1; seq <= from + count; seq++) {
    if (seq % 5 !== 0) text += `${seq},`;
    parts.push({ position: at(seq), end: text.length });
  }
  return { bytes: Buffer.from(text), parts, last: at(from + count), isTerminal: false };
}

it('has what follows every position that it covers', () => {
  fc.assert(
    fc.property(fc.nat(50), fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 20 }), (start, counts) => {
      const recent = createRecentPassages(at(start));
      let head = start;
      for (const count of counts) {
        recent.add(passage(head, count));
        head += count;
      }
      expect(recent.head).toEqual(at(head));
      for (let seq = start; seq <= head; seq++) {
        expect(recent.covers(at(seq))).toBe(true);
        expect(Buffer.concat(recent.since(at(seq))).toString()).toBe(passage(seq, head - seq).bytes.toString());
      }
      expect([recent.covers(at(start - 1)), recent.covers(at(head + 1))]).toEqual([false, false]);
    }),
  );
});

it('forgets the oldest first, and says so', () => {
  const recent = createRecentPassages(at(0));
  const large = Buffer.alloc(400_000);
  for (let seq = 1; seq <= 5; seq++) {
    recent.add({ bytes: large, parts: [{ position: at(seq), end: large.length }], last: at(seq), isTerminal: false });
  }
  expect([2, 3, 5].map((seq) => recent.covers(at(seq)))).toEqual([false, true, true]);
});
