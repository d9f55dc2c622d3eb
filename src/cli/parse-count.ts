import { InvalidArgumentError } from 'commander';

/**
 * Parses an option that is a positive number.
 *
 * @example
 * parseCount('4') // 4
 */
export function parseCount(value: string): number {
  if (!/^[1-9]\d{0,3}$/.test(value)) throw new InvalidArgumentError('Use a whole number from 1 to 9999.');
  return Number(value);
}
