import type { FinderName, ParseErrorCode, Profile, Repair, RepairLevel, Warning } from '../../../src/json/index.js';

/** An inspection's input, schema and options. */
export interface InspectionInput {
  readonly text: string;
  /** A JSON Schema as text; blank for none. */
  readonly schemaText: string;
  readonly options: WorkbenchOptions;
}

/** The options that the user can choose, named like the `parse` options. */
export interface WorkbenchOptions {
  readonly profile: Profile;
  readonly allowPartial: boolean;
  readonly align: boolean;
  readonly prefer: 'first' | 'last' | null;
}

/** A range of the input, in UTF-16 code units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * A candidate's state: selected; rejected; also matching, with another value; or not checked, because an earlier one
 * was selected.
 */
export type CandidateState = 'selected' | 'rejected' | 'alternative' | 'unchecked';

/** A candidate and its outcome. */
export interface CandidateView extends Span {
  readonly finder: FinderName;
  readonly state: CandidateState;
  readonly code: ParseErrorCode | null;
  readonly reason: string;
}

/** A note about a part of the value; `span` is null if that part cannot be located in the input. */
export interface ValueNote {
  readonly kind: 'issue' | 'change';
  /** `items.3.name`; empty for the root. */
  readonly path: string;
  readonly message: string;
  /** The key of the row that shows the note (`createRowKey`). A missing key is shown at its parent. */
  readonly row: string;
  readonly span: Span | null;
}

/** A line of the value, formatted as JSON. */
export interface ValueRow {
  readonly depth: number;
  /** The key with its quotes; null in lists and at the root. */
  readonly key: string | null;
  readonly text: string;
  readonly notes: readonly ValueNote[];
}

/** The start of a value, line by line. */
export interface ValueView {
  readonly rows: readonly ValueRow[];
  /** Whether rows are missing at the end. */
  readonly isTruncated: boolean;
}

/** A schema error, and its offset if known. */
export interface SchemaProblem {
  readonly message: string;
  readonly offset: number | null;
}

/** The outcome of parsing. */
export type InspectionOutcome =
  | { readonly status: 'success'; readonly repairLevel: RepairLevel }
  | { readonly status: 'failed'; readonly code: ParseErrorCode; readonly message: string }
  | { readonly status: 'comment' };

/** The start of a list, and its total length. */
export interface LimitedList<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** Everything the page shows about one input. All lists are bounded. */
export interface Inspection {
  readonly outcome: InspectionOutcome;
  readonly candidates: LimitedList<CandidateView>;
  readonly repairs: LimitedList<Repair>;
  readonly notes: LimitedList<ValueNote>;
  readonly warnings: readonly Warning[];
  /** The accepted value, or the value that the schema rejected. */
  readonly value: ValueView | null;
}
