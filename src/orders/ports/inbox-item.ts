import type { Decision } from '../decision.js';
import type { Reading } from '../reading.js';
import type { WorkResult } from '../work-result.js';

/** Something only a person can settle. Nothing times out into a decision. */
export interface InboxItem {
  readonly id: string;
  readonly issue_ref: string;
  readonly run_id: string;
  readonly run_ulid: string;
  readonly reason: string;
  readonly next: string;
  readonly result_code: string;
  readonly reading: Reading;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly created_at: string;
  /** Null as long as it waits. */
  readonly resolution: Resolution | null;
}

/** What a person decided, and why. */
export interface Resolution {
  readonly action: 'accept' | 'reject' | 'retry' | 'edit';
  readonly who: string;
  readonly why: string;
  readonly result?: WorkResult;
  readonly decision: Decision['action'];
  /** The run that a retry began. */
  readonly new_run_id?: string;
  readonly at: string;
}
