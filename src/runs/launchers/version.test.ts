import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readVersion, isVersionIn } from './version.js';

describe('readVersion', () => {
  it.each([
    ['codex-cli 0.166.0\n', '0.166.0'],
    ['2.1.325 (Claude Code)', '2.1.325'],
    ['v1.18.33', '1.18.33'],
    ['node20.1.2', undefined],
    ['1.18.33-beta.2', '1.18.33-beta.2'],
    ['running on 10.0.0.1.5', undefined],
    ['', undefined],
  ])('finds in %j the version %j', (text, version) => {
    expect(readVersion(text)).toBe(version);
  });

  it('does not search long output', () => {
    expect(readVersion(`${' '.repeat(5000)}1.2.3`)).toBeUndefined();
  });
});

describe('isVersionIn', () => {
  it.each([
    ['0.166.0', '>=0.166.0 <0.167.0', true],
    ['0.166.12', '>=0.166.0 <0.167.0', true],
    ['0.167.0', '>=0.166.0 <0.167.0', false],
    ['0.165.9', '>=0.166.0 <0.167.0', false],
    ['2.1.325', '>=2.1.325 <2.2', true],
    ['10.0.0', '>=9.0.0', true],
    ['1.18.34-beta.1', '>=1.18.33 <1.19.0', true],
    ['1.2.3', '', false],
    ['1.2.3', '~1.2', false],
    ['new', '>=0.0.0', false],
  ])('%s in %j: %s', (version, range, isIn) => {
    expect(isVersionIn(version, range)).toBe(isIn);
  });

  it('orders versions by their numbers', () => {
    const version = fc.tuple(fc.nat(99), fc.nat(99), fc.nat(99));
    fc.assert(
      fc.property(version, version, (left, right) => {
        const order = left.findIndex((number, index) => number !== right[index]);
        const isBelow = order >= 0 && (left[order] ?? 0) < (right[order] ?? 0);
        expect(isVersionIn(left.join('.'), `<${right.join('.')}`)).toBe(isBelow);
        expect(isVersionIn(left.join('.'), `>=${right.join('.')}`)).toBe(!isBelow);
      }),
    );
  });
});
