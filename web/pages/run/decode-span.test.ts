import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BYTES_BEFORE, decodeLastSpan, decodeSpan } from './decode-span.js';

const whole = new TextDecoder('utf-8', { ignoreBOM: true });

/** Decodes in pieces that end at the cuts. */
function decodeCut(bytes: Uint8Array, cuts: readonly number[]): string {
  const edges = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  let text = '';
  for (let index = 0; index + 1 < edges.length; index += 1) {
    const from = edges[index] ?? 0;
    const to = edges[index + 1] ?? 0;
    const before = Math.min(BYTES_BEFORE, from);
    const piece = bytes.subarray(from - before, to);
    text += to === bytes.length ? decodeLastSpan(piece, before) : decodeSpan(piece, before);
  }
  return text;
}

test('a character on the edge belongs to what follows', () => {
  const bytes = new TextEncoder().encode('a€b');
  expect(decodeSpan(bytes.subarray(0, 2), 0)).toBe('a');
  expect(decodeLastSpan(bytes, 2)).toBe('€b');
});

test('pieces of a text are together the text, wherever it is cut', () => {
  const text = fc
    .array(fc.constantFrom('a', 'é', '€', '👍', '\ufeff'), { maxLength: 30 })
    .map((one) => new TextEncoder().encode(one.join('')));
  fc.assert(
    fc.property(text, fc.array(fc.nat()), (bytes, cuts) => {
      expect(decodeCut(bytes, cuts)).toBe(whole.decode(bytes));
    }),
  );
});

test('bytes that are no text are substituted in pieces as they are in whole', () => {
  const broken = fc.array(fc.constantFrom(0x41, 0x80, 0xbf, 0xc3, 0xe2, 0x82, 0xf0, 0x9f, 0xff), {
    minLength: 1,
    maxLength: 30,
  });
  fc.assert(
    fc.property(broken, fc.array(fc.nat()), (list, cuts) => {
      const bytes = Uint8Array.from([0x41, ...list]);
      expect(decodeCut(bytes, cuts)).toBe(whole.decode(bytes));
    }),
  );
});
