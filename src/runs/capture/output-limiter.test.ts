import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveLimits } from '../spec/check-run-spec.js';
import { OutputLimiter } from './capture-output.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (kept: Uint8Array): string => new TextDecoder().decode(kept);

describe('the output', () => {
  it('is truncated if it becomes too large, across all streams and attempts', () => {
    const limiter = new OutputLimiter(resolveLimits({ output_bytes: 10 }), 3);
    expect(limiter.limit('stdout', bytes('abcd'))).toEqual({ kept: bytes('abcd'), stop: null });
    const { kept, stop } = limiter.limit('stderr', bytes('efgh'));
    expect([text(kept), stop?.verdict, stop?.reason]).toEqual([
      'efg',
      'limit',
      expect.stringContaining('output_bytes (10 bytes)'),
    ]);
    expect(limiter.bytes).toBe(10);
  });

  it('is limited to the exact byte', () => {
    const limiter = new OutputLimiter(resolveLimits({ output_bytes: 4, line_bytes: 4 }), 0);
    expect(limiter.limit('stdout', bytes('abcd')).stop).toBeNull();
    expect(limiter.limit('stdout', bytes('e')).stop).not.toBeNull();
  });

  it('is truncated if a line becomes too long, for each stream separately', () => {
    const limiter = new OutputLimiter(resolveLimits({ line_bytes: 5 }), 0);
    expect(limiter.limit('stdout', bytes('one\ntwo')).stop).toBeNull();
    expect(limiter.limit('stderr', bytes('abc')).stop).toBeNull();
    expect(limiter.limit('stdout', bytes('23\nabcde\n')).stop).toBeNull();
    const { kept, stop } = limiter.limit('stdout', bytes('x\nabcdefgh'));
    expect([text(kept), stop?.reason]).toEqual(['x\nabcde', expect.stringContaining('line_bytes (5 bytes)')]);
  });

  it('is truncated at the same position however it is chunked', () => {
    const lines = fc.string({ unit: fc.constantFrom('a', '\n'), maxLength: 60 });
    fc.assert(
      fc.property(lines, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (printed, sizes) => {
        const limits = resolveLimits({ line_bytes: 6, output_bytes: 40 });
        const whole = new OutputLimiter(limits, 0).limit('stdout', bytes(printed));
        const limiter = new OutputLimiter(limits, 0);
        let kept = '';
        let at = 0;
        for (let index = 0; at < printed.length; index += 1) {
          const piece = printed.slice(at, at + (sizes[index % sizes.length] ?? 1));
          at += piece.length;
          const limited = limiter.limit('stdout', bytes(piece));
          kept += text(limited.kept);
          if (limited.stop !== null) break;
        }
        expect(kept).toBe(text(whole.kept));
      }),
    );
  });
});
