import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundDetail } from './bound-detail.js';

function bytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

describe("an event's detail", () => {
  it('is unchanged if it is small', () => {
    const detail = { model: 'm', tools: ['a', 'b'] };
    expect(boundDetail(detail)).toBe(detail);
  });

  it('keeps the first members, and reports the number of missing ones', () => {
    const detail = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`key${index}`, index]));
    const bounded = boundDetail(detail) as Record<string, number>;
    expect(bounded['key0']).toBe(0);
    expect(bounded['…']).toBe(1000 - Object.keys(bounded).length + 1);
  });

  it('truncates a long string', () => {
    expect(boundDetail({ text: 'x'.repeat(10_000) })).toMatchObject({ text: expect.stringMatching(/^x+…$/u) });
  });

  it('takes linear time for a deeply nested large value', { timeout: 5000 }, () => {
    let nested: object = { text: 'x'.repeat(32 * 1024 * 1024) };
    for (let level = 0; level < 160; level += 1) nested = { nested };
    expect(bytes(boundDetail(nested))).toBeLessThanOrEqual(4096);
  });

  it('has at most 4 KiB for any value', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.string({ unit: 'binary', maxLength: 6000 }),
        fc.nat(200),
        (value, text, copies) => {
          const detail = {
            text,
            list: Array.from({ length: copies }, () => value),
            nested: { deeper: { text, value } },
          };
          expect(bytes(boundDetail(detail))).toBeLessThanOrEqual(4096);
        },
      ),
    );
  });
});
