import type { FinderName, ParseErrorCode, Profile, Repair, RepairLevel, Warning } from '../../../src/json/index.js';

/** The text to parse, and the options. */
export interface InspectionInput {
  readonly text: string;
  /** The text of a JSON Schema; blank for none. */
  readonly schemaText: string;
  readonly options: WorkbenchOptions;
}

/** The options a person can choose; the names are those of `parse`. */
export interface WorkbenchOptions {
  readonly profile: Profile;
  readonly allowPartial: boolean;
  readonly align: boolean;
  readonly prefer: 'first' | 'last' | null;
}

/** A stretch of the text, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * The state of a candidate: selected; rejected; also matching, with another value; or not checked, because an earlier one
 * was selected.
 */
export type CandidateState = 'taken' | 'refused' | 'rival' | 'spare';

/** A candidate and its outcome. */
export interface CandidateView extends Span {
  readonly finder: FinderName;
  readonly state: CandidateState;
  readonly code: ParseErrorCode | null;
  readonly reason: string;
}

/** A note about a place of the value; `span` if that place can be located in the text. */
export interface PlaceNote {
  readonly kind: 'issue' | 'change';
  /** `items.3.name`; empty for the root. */
  readonly place: string;
  readonly message: string;
  /** The row that shows it, as written by `rowKey`: a missing key is shown at its parent. */
  readonly row: string;
  readonly span: Span | null;
}

/** A line of the value, as JSON would be written. */
export interface ValueRow {
  readonly depth: number;
  /** The key with its quotes; null in lists and at the root. */
  readonly key: string | null;
  readonly text: string;
  readonly notes: readonly PlaceNote[];
}

/** The beginning of a value, line by line. */
export interface ValueView {
  readonly rows: readonly ValueRow[];
  /** Not all of it is shown. */
  readonly cut: boolean;
}

/** The problem of the schema, and its place in the text, if known. */
export interface SchemaProblem {
  readonly message: string;
  readonly offset: number | null;
}

/** The outcome of parsing. */
export type InspectionOutcome =
  | { readonly status: 'success'; readonly repairLevel: RepairLevel }
  | { readonly status: 'failed'; readonly code: ParseErrorCode; readonly message: string }
  | { readonly status: 'comment' };

/** A list of which only the beginning is kept. */
export interface Some<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** Everything the page shows of one text. Every list in it is bounded. */
export interface Inspection {
  readonly outcome: InspectionOutcome;
  readonly candidates: Some<CandidateView>;
  readonly repairs: Some<Repair>;
  readonly notes: Some<PlaceNote>;
  readonly warnings: readonly Warning[];
  /** The value that passed, or the one the schema refused. */
  readonly value: ValueView | null;
}
