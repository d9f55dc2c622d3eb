import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readPlace, writePlace } from './place.js';
import type { Place } from './place.js';

const number = fc.integer({ min: 1, max: 1_000_000 });
const place = fc.oneof<fc.Arbitrary<Place>[]>(
  fc.record({ lens: fc.constant('conversation' as const), seq: number }),
  fc.record({ lens: fc.constant('events' as const), attempt: number, seq: number }),
  fc
    .record({
      attempt_number: number,
      stream: fc.constantFrom('stdout' as const, 'stderr' as const, 'pty' as const),
      byte_from: number,
      length: number,
    })
    .map(({ length, ...rest }) => ({ lens: 'raw' as const, ...rest, byte_to: rest.byte_from + length })),
);

test('a place is read back from its word', () => {
  fc.assert(
    fc.property(place, (one) => {
      expect(readPlace(writePlace(one))).toEqual(one);
    }),
  );
});

test.each([
  null,
  '',
  'c',
  'c-1',
  'e1',
  'x1',
  'b1.stdin.0-5',
  'b1.stdout.5-5',
  'b1.stdout.9-5',
  'c1;DROP',
  `c${'9'.repeat(30)}`,
])('%j is no place', (word) => {
  expect(readPlace(word)).toBeNull();
});

test('any text is read without harm', () => {
  fc.assert(fc.property(fc.string(), (word) => void readPlace(word)));
});
