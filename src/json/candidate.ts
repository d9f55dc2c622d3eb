/** How a candidate was found. `docs/glossary.md` has a sentence on each. */
export type FinderName = 'whole' | 'tag' | 'ndjson' | 'envelope' | 'fence' | 'prose';

/** A span of the text that may be the answer; offsets are UTF-16 units of the text that was given. */
export interface Candidate {
  readonly finder: FinderName;
  readonly start: number;
  readonly end: number;
}
