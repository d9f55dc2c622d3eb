import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CoverageLedger } from './stream-translator.js';

function reportCoverage(bytes: number, claims: readonly (readonly [number, number])[]) {
  const ledger = new CoverageLedger();
  ledger.receive(bytes);
  for (const [from, to] of claims) ledger.claim(from, to);
  return ledger.report();
}

describe('the coverage of a stream', () => {
  it('is complete if every byte is claimed once', () => {
    expect(
      reportCoverage(10, [
        [0, 4],
        [4, 10],
      ]),
    ).toEqual({ bytes: 10, claimed: 10, unclaimed: [], doubled: [] });
  });

  it('shows gaps', () => {
    expect(
      reportCoverage(10, [
        [1, 4],
        [6, 8],
      ]),
    ).toMatchObject({
      claimed: 5,
      unclaimed: [
        [0, 1],
        [4, 6],
        [8, 10],
      ],
    });
  });

  it('shows bytes that are claimed twice', () => {
    expect(
      reportCoverage(10, [
        [0, 6],
        [4, 10],
      ]),
    ).toMatchObject({ claimed: 10, doubled: [[4, 6]] });
    expect(
      reportCoverage(10, [
        [0, 10],
        [2, 3],
        [2, 3],
      ]),
    ).toMatchObject({
      claimed: 10,
      doubled: [
        [2, 3],
        [2, 3],
      ],
    });
  });

  it('counts bytes out of order', () => {
    expect(
      reportCoverage(10, [
        [5, 10],
        [0, 5],
      ]),
    ).toEqual({ bytes: 10, claimed: 10, unclaimed: [], doubled: [] });
  });

  it('agrees with counting every byte', () => {
    const range = fc
      .tuple(fc.nat(30), fc.nat(30))
      .map(([one, other]) => [Math.min(one, other), Math.max(one, other)] as const);
    fc.assert(
      fc.property(fc.array(range, { maxLength: 12 }), (claims) => {
        const counts = Array.from(
          { length: 30 },
          (_, byte) => claims.filter(([from, to]) => byte >= from && byte < to).length,
        );
        const { claimed, unclaimed, doubled } = reportCoverage(30, claims);
        expect(claimed).toBe(counts.filter((count) => count > 0).length);
        expect(unclaimed.reduce((sum, [from, to]) => sum + to - from, 0)).toBe(
          counts.filter((count) => count === 0).length,
        );
        const doubledBytes = counts.reduce((sum, count) => sum + Math.max(0, count - 1), 0);
        expect(doubled.reduce((sum, [from, to]) => sum + to - from, 0)).toBe(doubledBytes);
      }),
    );
  });
});
