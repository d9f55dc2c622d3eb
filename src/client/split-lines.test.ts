import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLineSplitter } from './split-lines.js';

it('gives the same lines however the text is cut', () => {
  const piece = fc.constantFrom('a', 'bc', '\n', '\r', '\r\n', '', '名');
  fc.assert(
    fc.property(fc.array(piece), fc.array(fc.nat(40)), (pieces, cuts) => {
      const text = pieces.join('');
      const whole = text.split(/\r\n|\r|\n/).slice(0, -1);
      const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length].toSorted((a, b) => a - b);
      const split = createLineSplitter(1000);
      const lines = places.slice(1).flatMap((end, index) => split(text.slice(places[index], end)));
      expect(lines).toEqual(whole);
    }),
  );
});

it('refuses a line that does not end', () => {
  const split = createLineSplitter(10);
  split('12345678');
  expect(() => split('901')).toThrow(RangeError);
});
