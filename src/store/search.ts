import type { RunFilter } from './ports/index.js';
import { MAX_SEQUENCE, readPage, type PageWindow } from './page.js';
import { splitWords } from './run-digest.js';

/** A search with defaults filled in, so each store needs only one statement. */
export interface RunSearch {
  readonly page: PageWindow;
  /** Only runs before this sequence number. */
  readonly before: number;
  readonly words: readonly string[];
  readonly state: string | null;
  readonly engine: string | null;
  readonly outcome: string | null;
  readonly repairLevel: string | null;
  readonly since: number;
  readonly until: number;
  /** Null for no bound. With a bound, a run that has not ended does not match. */
  readonly endedSince: number | null;
  readonly endedUntil: number | null;
  readonly model: string | null;
  readonly engineVersion: string | null;
}

/** The oldest run that a page reads, if older runs might exist. */
export interface SearchFloor {
  readonly sequence: number;
  readonly createdAt: number;
}

/** The assumed maximum clock difference between hosts, due to which runs are not strictly ordered by time. */
const MAX_CLOCK_SKEW_MS = 24 * 60 * 60 * 1000;

/** Parses a search; undefined for a plain list, which an index already orders. */
export function readRunSearch(filter: RunFilter): RunSearch | undefined {
  const { search, outcome, repairLevel, since, until, endedSince, endedUntil, model, engineVersion } = filter;
  const searched = [search, outcome, repairLevel, since, until, endedSince, endedUntil, model, engineVersion];
  if (searched.every((one) => one === undefined)) return undefined;
  const page = readPage(filter);
  return {
    page,
    before: page.after ?? MAX_SEQUENCE,
    words: splitWords(search ?? ''),
    state: filter.state ?? null,
    engine: filter.engine ?? null,
    outcome: outcome ?? null,
    repairLevel: repairLevel ?? null,
    since: since ?? 0,
    until: until ?? MAX_SEQUENCE,
    endedSince: endedSince ?? null,
    endedUntil: endedUntil ?? null,
    model: model ?? null,
    engineVersion: engineVersion ?? null,
  };
}

/** Returns where the next page starts; undefined if all remaining rows are older than requested. */
export function chooseFloor({ since }: RunSearch, floor: SearchFloor | undefined): number | undefined {
  return floor === undefined || floor.createdAt < since - MAX_CLOCK_SKEW_MS ? undefined : floor.sequence;
}

/** An issue search with defaults filled in. References are ASCII. */
export interface IssueSearch {
  readonly page: PageWindow;
  /** Only issues before this sequence number. */
  readonly before: number;
  readonly words: readonly string[];
  readonly state: string | null;
}

/** Parses a search; undefined for a plain list. */
export function readIssueSearch(filter: {
  readonly limit?: number;
  readonly cursor?: string;
  readonly state?: string;
  readonly search?: string;
}): IssueSearch | undefined {
  if (filter.search === undefined) return undefined;
  const page = readPage(filter);
  return { page, before: page.after ?? MAX_SEQUENCE, words: splitWords(filter.search), state: filter.state ?? null };
}
