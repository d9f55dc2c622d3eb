import type { Decision } from './decision.js';
import type { Reading } from './reading.js';
import type { WorkResult } from './work-result.js';

/** Something only a person can settle. Nothing times out into a decision. */
export interface InboxItem {
  readonly id: string;
  readonly issue_ref: string;
  readonly run_id: string;
  readonly run: string;
  readonly reason: string;
  readonly next: string;
  readonly result_code: string;
  readonly reading: Reading;
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly created_at: string;
  /** Null as long as it waits. */
  readonly resolution: Resolution | Superseded | null;
}

/** What a person decided, and why. `edit`: the result as the person corrected it was accepted. */
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

/** Nobody decided: a new order was given for the issue, and the question went with the run it was about. */
export interface Superseded {
  readonly action: 'superseded';
  /** `lead`: whoever gave the order. */
  readonly who: string;
  readonly why: string;
  readonly new_run_id: string;
  readonly at: string;
}
