import type { RunResult } from './run-result.js';
import type { RunSpec } from './run-spec.js';

/** How far a run has come. `waiting`: the agent has asked a question that has no answer yet. */
export type RunState = 'queued' | 'running' | 'waiting' | 'ended';

/** The worker that holds a claim: enough to find out, after a crash, whether its process is still alive. */
export interface WorkerIdentity {
  /** Unique per claim: one process may hold several. */
  readonly worker_id: string;
  readonly host: string;
  readonly pid: number;
  /** When the process started, as reported by the system; a pid alone is reused. */
  readonly pid_started: string | null;
}

/** One run, as the store keeps it. A run may carry an order: then ending it settles the order. */
export interface RunRecord {
  readonly id: string;
  /** For an order that is still queued only what is known of it: engine, folder, instructions. */
  readonly spec: RunSpec;
  readonly state: RunState;
  /** The order this run carries. */
  readonly order: { readonly issue_ref: string; readonly run_id: string } | null;
  /** The worker that has claimed it; null while it is queued. */
  readonly owner: WorkerIdentity | null;
  /** Milliseconds since 1970; the claim has expired afterwards. */
  readonly lease_until: number | null;
  readonly cancel_requested: boolean;
  /** Why a queued run is not claimed: its folder is in use by that run, or (null) by a process outside the store. */
  readonly waiting_for: { readonly reason: 'folder'; readonly run: string | null } | null;
  readonly created_at: string;
  /** When its process may have started; null before that, also while it is claimed. */
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly result: RunResult | null;
}
