import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Chunk } from './log-reader.js';
import { createRecentChunks } from './broadcast.js';

const createPosition = (seq: number) => ({ attempt: 0, seq });

/** A chunk where each event is its number and a comma, or empty for multiples of five. */
function chunk(from: number, count: number): Chunk {
  const parts: { position: { attempt: number; seq: number }; end: number }[] = [];
  let text = '';
  for (let seq = from + 1; seq <= from + count; seq++) {
    if (seq % 5 !== 0) text += `${seq},`;
    parts.push({ position: createPosition(seq), end: text.length });
  }
  return { bytes: Buffer.from(text), parts, last: createPosition(from + count), isTerminal: false };
}

it('returns all events after any position that it covers', () => {
  fc.assert(
    fc.property(fc.nat(50), fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 20 }), (start, counts) => {
      const recent = createRecentChunks(createPosition(start));
      let head = start;
      for (const count of counts) {
        recent.add(chunk(head, count));
        head += count;
      }
      expect(recent.head).toEqual(createPosition(head));
      for (let seq = start; seq <= head; seq++) {
        expect(recent.covers(createPosition(seq))).toBe(true);
        expect(Buffer.concat(recent.since(createPosition(seq))).toString()).toBe(
          chunk(seq, head - seq).bytes.toString(),
        );
      }
      expect([recent.covers(createPosition(start - 1)), recent.covers(createPosition(head + 1))]).toEqual([
        false,
        false,
      ]);
    }),
  );
});

it('drops the oldest chunks first and no longer covers them', () => {
  const recent = createRecentChunks(createPosition(0));
  const large = Buffer.alloc(400_000);
  for (let seq = 1; seq <= 5; seq++) {
    recent.add({
      bytes: large,
      parts: [{ position: createPosition(seq), end: large.length }],
      last: createPosition(seq),
      isTerminal: false,
    });
  }
  expect([2, 3, 5].map((seq) => recent.covers(createPosition(seq)))).toEqual([false, true, true]);
});
