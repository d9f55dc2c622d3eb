import { InvalidArgumentError } from 'commander';
import { expect, it } from 'vitest';
import { parseCount } from './run-flags.js';

it('parses whole numbers from 1 to 9999 as counts', () => {
  expect([parseCount('1'), parseCount('9999')]).toEqual([1, 9999]);
});

it.each(['0', '-1', '1.5', '10000', '4x', '', '0x10', '1e3'])('rejects %j as a count', (word) => {
  expect(() => parseCount(word)).toThrow(InvalidArgumentError);
});
