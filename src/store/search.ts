import type { RunFilter } from './ports/index.js';
import { MAX_SEQUENCE, readEndPage, readPage, type EndPosition, type PageWindow } from './page.js';
import { splitWords } from './run-digest.js';

/**
 * A search with defaults filled in. Its runs are read in the order of one time, newest first: of their end if the search
 * has a bound for it, otherwise of their creation. So a page starts at the latest time that was asked for.
 */
export interface RunSearch {
  readonly size: number;
  readonly order: 'created_at' | 'ended_at';
  /** Only runs before this position. */
  readonly before: EndPosition;
  /** Only runs at this time or later. */
  readonly from: number;
  readonly words: readonly string[];
  readonly state: string | null;
  readonly engine: string | null;
  readonly outcome: string | null;
  readonly repairLevel: string | null;
  readonly since: number;
  readonly until: number;
  readonly model: string | null;
  readonly engineVersion: string | null;
}

/** Parses a search; undefined for a plain list, which an index already orders. */
export function readRunSearch(filter: RunFilter): RunSearch | undefined {
  const { search, outcome, repairLevel, since, until, endedSince, endedUntil, model, engineVersion } = filter;
  const searched = [search, outcome, repairLevel, since, until, endedSince, endedUntil, model, engineVersion];
  if (searched.every((one) => one === undefined)) return undefined;
  const isByEnd = endedSince !== undefined || endedUntil !== undefined;
  const [from = 0, to = MAX_SEQUENCE] = isByEnd ? [endedSince, endedUntil] : [since, until];
  const { size, after } = readEndPage({ ...filter, since: to });
  return {
    size,
    order: isByEnd ? 'ended_at' : 'created_at',
    before: after,
    from,
    words: splitWords(search ?? ''),
    state: filter.state ?? null,
    engine: filter.engine ?? null,
    outcome: outcome ?? null,
    repairLevel: repairLevel ?? null,
    since: since ?? 0,
    until: until ?? MAX_SEQUENCE,
    model: model ?? null,
    engineVersion: engineVersion ?? null,
  };
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
