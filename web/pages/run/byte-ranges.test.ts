import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinSpans } from './byte-ranges.js';
import type { ByteSpan } from './byte-ranges.js';

const span = fc
  .record({
    attempt_number: fc.integer({ min: 1, max: 2 }),
    stream: fc.constantFrom('stdout' as const, 'stderr' as const),
    byte_from: fc.nat(60),
    length: fc.integer({ min: 1, max: 12 }),
  })
  .map(({ length, ...rest }) => ({ ...rest, byte_to: rest.byte_from + length }));

test('spans that touch are joined, others stay separate', () => {
  const stdout = (byte_from: number, byte_to: number): ByteSpan => ({
    attempt_number: 1,
    stream: 'stdout',
    byte_from,
    byte_to,
  });
  const { spans } = joinSpans([stdout(10, 20), stdout(0, 5), stdout(5, 9)]);
  expect(spans).toEqual([stdout(0, 9), stdout(10, 20)]);
});

test('empty ranges overlap nothing', () => {
  expect(joinSpans([]).overlaps({ attempt_number: 1, stream: 'stdout', byte_from: 0, byte_to: 1 })).toBe(false);
  expect(joinSpans([]).overlaps(null)).toBe(false);
});

test('the joined ranges overlap a span if one of the original spans does', () => {
  fc.assert(
    fc.property(fc.array(span, { maxLength: 12 }), span, (spans, query) => {
      const expected = spans.some(
        (one) =>
          one.attempt_number === query.attempt_number &&
          one.stream === query.stream &&
          one.byte_from < query.byte_to &&
          query.byte_from < one.byte_to,
      );
      expect(joinSpans(spans).overlaps(query)).toBe(expected);
    }),
  );
});
