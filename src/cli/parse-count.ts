import { InvalidArgumentError } from 'commander';

/**
 * Reads a count given as an option.
 *
 * @example
 * parseCount('4') // 4
 */
export function parseCount(word: string): number {
  if (!/^[1-9]\d{0,3}$/.test(word)) throw new InvalidArgumentError('Use a whole number from 1 to 9999.');
  return Number(word);
}
