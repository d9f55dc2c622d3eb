import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RawRef } from '../../../src/events/index.js';
import { createRefIndex } from './byte-ranges.js';

/** Consecutive frames of two streams, each with one to three events; some bytes belong to no frame. */
const frames = fc
  .array(
    fc.record({
      stream: fc.constantFrom('stdout' as const, 'pty' as const),
      gap: fc.nat(2),
      length: fc.integer({ min: 1, max: 9 }),
      events: fc.integer({ min: 1, max: 3 }),
    }),
    { maxLength: 30 },
  )
  .map((parts) => {
    const ends = { stdout: 0, pty: 0 };
    return parts.flatMap(({ stream, gap, length, events }) => {
      const byte_from = ends[stream] + gap;
      ends[stream] = byte_from + length;
      const ref: RawRef = { attempt_number: 1, stream, byte_from, byte_to: ends[stream], encoding: 'utf-8' };
      return Array.from({ length: events }, () => ref);
    });
  });

/** Events that span multiple frames, such as multi-line messages. */
const multiFrameEvents = fc.array(
  fc
    .record({ byte_from: fc.nat(80), length: fc.integer({ min: 1, max: 60 }) })
    .map(({ byte_from, length }) => stdout(byte_from, byte_from + length)),
  { maxLength: 5 },
);

function stdout(byte_from: number, byte_to: number): RawRef {
  return { attempt_number: 1, stream: 'stdout', byte_from, byte_to, encoding: 'utf-8' };
}

test('each line of a long message finds the message, but not the other lines', () => {
  const index = createRefIndex();
  const lines = [stdout(0, 10), stdout(10, 20), stdout(20, 30), stdout(30, 40)];
  for (const [at, ref] of [...lines, stdout(0, 40)].entries()) index.add(ref, at);
  expect(lines.map((line) => index.overlapping(line))).toEqual([
    [0, 4],
    [1, 4],
    [2, 4],
    [3, 4],
  ]);
});

test('finds exactly the events that overlap a span, in any insertion order', () => {
  const refs = fc
    .tuple(frames, multiFrameEvents)
    .chain(([one, other]) => fc.shuffledSubarray([...one, ...other], { minLength: one.length + other.length }));
  fc.assert(
    fc.property(refs, fc.nat(100), fc.integer({ min: 1, max: 40 }), (list, byte_from, length) => {
      const index = createRefIndex();
      for (const [at, ref] of list.entries()) index.add(ref, at);
      const span = { attempt_number: 1, stream: 'stdout' as const, byte_from, byte_to: byte_from + length };
      const expected = [...list.keys()].filter((at) => {
        const ref = list[at];
        return ref?.stream === 'stdout' && ref.byte_from < span.byte_to && span.byte_from < ref.byte_to;
      });
      expect([...index.overlapping(span)].sort((a, b) => a - b)).toEqual(expected);
    }),
  );
});

test('an event without bytes is never found', () => {
  const index = createRefIndex();
  index.add(null, 0);
  expect(index.overlapping({ attempt_number: 1, stream: 'stdout', byte_from: 0, byte_to: 9 })).toEqual([]);
});

test('returns no more than requested', () => {
  const index = createRefIndex();
  const ref = stdout(0, 9);
  for (let at = 0; at < 10; at += 1) index.add(ref, at);
  expect(index.overlapping(ref, 3)).toEqual([0, 1, 2]);
});
