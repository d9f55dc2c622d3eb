import type { Listed } from '../orders/ports/order-store.js';
import type { RunFilter } from '../runs/ports/run-records.js';
import { searchWords } from './run-digest.js';
import { readPage, toListed } from './page.js';
import type { PageWindow } from './page.js';

/** A search, with everything that was not asked for filled in, so that each store has one statement for all of them. */
export interface RunSearch {
  readonly page: PageWindow;
  /** Only runs before this place. */
  readonly before: number;
  readonly words: readonly string[];
  readonly state: string | null;
  readonly engine: string | null;
  readonly outcome: string | null;
  readonly repairLevel: string | null;
  readonly since: number;
  readonly until: number;
}

/** The oldest run that a page looks at, if there may be more behind it. */
export interface SearchFloor {
  readonly sequence: number;
  readonly createdAt: number;
}

/** One page of a search looks at so many runs: it answers soon, however many there are and however few fit. */
export const SEARCH_WINDOW = 10_000;

const BEYOND = Number.MAX_SAFE_INTEGER;
/** Clocks of machines differ, so runs are not quite in the order of their times; never by this much. */
const DAY_MS = 24 * 60 * 60 * 1000;

/** Reads a search; undefined for a plain list, which an index gives in order without looking at anything else. */
export function readRunSearch(filter: RunFilter): RunSearch | undefined {
  const { search, outcome, repairLevel, since, until, state, engine } = filter;
  if ([search, outcome, repairLevel, since, until].every((one) => one === undefined)) return undefined;
  const page = readPage(filter);
  return {
    page,
    before: page.after ?? BEYOND,
    words: searchWords(search ?? ''),
    state: state ?? null,
    engine: engine ?? null,
    outcome: outcome ?? null,
    repairLevel: repairLevel ?? null,
    since: since ?? 0,
    until: until ?? BEYOND,
  };
}

/** A page of what was found down to the floor; it may be short and still have a next one. */
export function toSearched<Row, T>(
  rows: readonly Row[],
  { page, since }: RunSearch,
  floor: SearchFloor | undefined,
  read: (row: Row) => T,
  sequenceOf: (row: Row) => number,
): Listed<T> {
  const listed = toListed(rows, page, read, sequenceOf);
  const mayGoOn = floor !== undefined && floor.createdAt >= since - DAY_MS;
  return listed.next_cursor === null && mayGoOn ? { ...listed, next_cursor: String(floor.sequence) } : listed;
}
