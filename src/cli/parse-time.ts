import { InvalidArgumentError } from 'commander';
import { FORMATS } from '../json-schema/index.js';

/**
 * Reads a day or a moment off the command line, as records have it: they are compared as text.
 *
 * @example
 * parseTime('2026-11-15') // '2026-11-15T00:00:00.000Z'
 */
export function parseTime(word: string): string {
  const isTime = ['date', 'date-time'].some((format) => FORMATS.get(format)?.(word) === true);
  const time = new Date(isTime ? word : Number.NaN);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw new InvalidArgumentError('Give a day (2026-11-15) or a moment (2026-11-15T08:00:00Z).');
}
