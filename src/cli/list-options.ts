import { InvalidArgumentError, Option } from 'commander';
import { FORMATS } from '../json/schema/index.js';
import type { Listed, Page } from '../store/ports/index.js';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000_000;

/** Creates the option that limits a list. */
export function createLimitOption(): Option {
  return new Option('--limit <n>', 'maximum number of entries').default(DEFAULT_LIMIT).argParser((value) => {
    const limit = Number(value);
    if (!(Number.isInteger(limit) && limit > 0 && limit <= MAX_LIMIT)) {
      throw new InvalidArgumentError(`Use a whole number from 1 to ${MAX_LIMIT}.`);
    }
    return limit;
  });
}

/**
 * Parses a date or time and formats it as in records, where times are compared as strings.
 *
 * @example
 * parseTime('2026-11-15') // '2026-11-15T00:00:00.000Z'
 */
export function parseTime(value: string): string {
  const isTime = ['date', 'date-time'].some((format) => FORMATS.get(format)?.(value) === true);
  const time = new Date(isTime ? value : Number.NaN);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw new InvalidArgumentError('Use a date (2026-11-15) or a time (2026-11-15T08:00:00Z).');
}

const PAGE_SIZE = 200;

/** Reads the first `limit` items of a paged list. */
export async function readPages<Item>(
  limit: number,
  read: (page: Page) => Promise<Listed<Item>>,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const page: Listed<Item> = await read({
      limit: Math.min(PAGE_SIZE, limit - items.length),
      ...(cursor === null ? {} : { cursor }),
    });
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null && items.length < limit);
  return items;
}
