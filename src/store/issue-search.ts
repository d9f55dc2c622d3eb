import { readPage } from './page.js';
import type { PageWindow } from './page.js';
import { searchWords } from './run-digest.js';
import { BEYOND } from './search-page.js';

/** A search for issues, with everything that was not asked for filled in. References are ASCII. */
export interface IssueSearch {
  readonly page: PageWindow;
  /** Only issues before this place. */
  readonly before: number;
  readonly words: readonly string[];
  readonly state: string | null;
}

/** Reads a search; undefined for a plain list. */
export function readIssueSearch(filter: {
  readonly limit?: number;
  readonly cursor?: string;
  readonly state?: string;
  readonly search?: string;
}): IssueSearch | undefined {
  if (filter.search === undefined) return undefined;
  const page = readPage(filter);
  return { page, before: page.after ?? BEYOND, words: searchWords(filter.search), state: filter.state ?? null };
}
