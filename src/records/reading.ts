import type { WorkResult } from './work-result.js';

/** Where a result was read from, in the order of trust. */
export type ReadingSource = 'json' | 'text' | 'streams' | 'none';

/** What was found of a worker's result, and what is wrong with it. */
export interface Reading {
  readonly source: ReadingSource;
  /** The file or stream it was read from. */
  readonly path?: string;
  /**
   * Only there if issue, run and status were read strictly, from a whole file. It may still lack evidence: then
   * `problems` says so.
   */
  readonly result?: WorkResult;
  /** What the streams said in passing; never enough to advance. */
  readonly anchors?: { readonly issue_ref?: string; readonly run_id?: string; readonly status?: string };
  /** Any of them keeps the order from advancing. */
  readonly problems: readonly Problem[];
  /** Worth knowing, and no reason to distrust the result. */
  readonly notices?: readonly Problem[];
  /** A repaired reading: it pre-fills the inbox and decides nothing. */
  readonly draft?: unknown;
}

/** Something that keeps a reading from being taken at its word. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly path?: string;
}
