import type { Decision } from './decision.js';
import type { Problem, ReadingSource } from './reading.js';

/** What an execution was and what came of it. Append only: one row for every settle and every archive. */
export interface ExecutionRecord {
  readonly id: string;
  readonly issue_ref: string;
  readonly run_id: string;
  readonly run: string;
  readonly worker: string;
  readonly worker_type: string;
  readonly command: readonly string[];
  /** The version the worker reports, if it does. */
  readonly worker_version: string | null;
  readonly parser_version: string;
  readonly started_at: string | null;
  readonly duration_ms: number | null;
  readonly exit_code: number | null;
  readonly signal: string | null;
  /** How the result was written. */
  readonly result_encoding: ReadingSource;
  /** Which file or stream it was read from; null if none. */
  readonly parse_path: string | null;
  readonly parse_status: 'parsed' | 'incomplete' | 'unreadable' | 'anchors' | 'missing';
  readonly problems: readonly Problem[];
  readonly decision: Decision['action'];
  readonly result_code: string;
  readonly reason: string;
  /** Who decided: null for the rules, a name for a person. */
  readonly who: string | null;
  readonly at: string;
}
