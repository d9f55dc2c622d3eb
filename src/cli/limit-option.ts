import { InvalidArgumentError, Option } from 'commander';

const DEFAULT_LIMIT = 100;
const MOST = 1_000_000;

/** The option that bounds a list. */
export function limitOption(): Option {
  return new Option('--limit <n>', 'how many at most').default(DEFAULT_LIMIT).argParser((word) => {
    const limit = Number(word);
    if (!(Number.isInteger(limit) && limit > 0 && limit <= MOST)) {
      throw new InvalidArgumentError(`Give a whole number from 1 to ${MOST}.`);
    }
    return limit;
  });
}
