import { expect, test } from 'vitest';
import { describeRedelivery } from './redelivery.js';

test.each([
  [0, undefined, 'Nothing to redeliver'],
  [131, { open: 131, dead: 0, error: 'It responded with 401.' }, '131 queued, first retry now'],
  [131, { open: 100, dead: 0, error: null }, '31 of 131 delivered, 100 to go'],
  [
    131,
    { open: 0, dead: 131, error: 'It responded with 401.' },
    '0 of 131 delivered, 131 failed: It responded with 401.',
  ],
  [131, undefined, 'All 131 delivered'],
])('a redelivery of %i comments with %o left: %s', (queued, sink, text) => {
  expect(describeRedelivery(queued, sink)).toBe(text);
});
