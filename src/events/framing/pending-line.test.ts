import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LONG_LINE_BYTES } from './decode-line.js';
import { PendingLine } from './line-splitter.js';

const encoder = new TextEncoder();

describe('a line whose end has not arrived yet', () => {
  it('is decoded as one if a chunk boundary splits characters', () => {
    const text = '你好 😀 é a '.repeat(100);
    const pending = new PendingLine();
    for (const byte of encoder.encode(text)) pending.append(Uint8Array.of(byte));
    expect(pending.take()).toEqual({ text, isUtf8: true, bytes: null });
    expect(pending.length).toBe(0);
  });

  it('is decoded as one if it is long, wherever its blocks end', () => {
    const parts = fc.constantFrom(
      [0x61],
      [0xc3, 0xa9],
      [0xe4, 0xb8, 0xad],
      [0xf0, 0x9f, 0x98, 0x80],
      [0x80],
      [0xe4, 0xb8],
      [0xff],
    );
    fc.assert(
      fc.property(fc.array(parts, { minLength: 1, maxLength: 8 }), fc.nat(8), (sequence, shift) => {
        const end = Uint8Array.from([...'x'.repeat(shift)].map(() => 0x78).concat(sequence.flat()));
        const bytes = new Uint8Array(LONG_LINE_BYTES + 4).fill(0x78);
        bytes.set(end, LONG_LINE_BYTES - end.length + 4);
        const pending = new PendingLine();
        pending.append(bytes.subarray(0, LONG_LINE_BYTES));
        pending.append(bytes.subarray(LONG_LINE_BYTES));
        expect(pending.take().text.slice(-50)).toBe(
          new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).slice(-50),
        );
      }),
      { numRuns: 60 },
    );
  });
});
