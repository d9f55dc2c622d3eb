import { expect, it } from 'vitest';
import { parseByteRange } from './run-files.js';

it.each([
  ['bytes=0-0', { from: 0, to: 1 }],
  ['bytes=10-19', { from: 10, to: 20 }],
  ['bytes=90-', { from: 90, to: 100 }],
  ['bytes=90-5000', { from: 90, to: 100 }],
  ['bytes=-5', { from: 95, to: 100 }],
  ['bytes=-500', { from: 0, to: 100 }],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=5-4', undefined],
  ['bytes=-', undefined],
  ['bytes=0-1,4-5', undefined],
  ['lines=0-1', undefined],
  ['bytes=0x1-2', undefined],
  ['bytes=9999999999999999-', undefined],
  [undefined, undefined],
])('the header %j selects %j of 100 bytes', (header, expected) => {
  expect(parseByteRange(header, 100)).toEqual(expected);
});

it('no range of an empty file can be satisfied', () => {
  expect(parseByteRange('bytes=0-', 0)).toBe('unsatisfiable');
});
