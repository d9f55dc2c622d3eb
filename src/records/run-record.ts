import type { RunResult } from './run-result.js';
import type { RunSpec } from './run-spec.js';

/** How far a run has come. `waiting`: the agent has asked, and nobody has answered yet. */
export type RunState = 'queued' | 'running' | 'waiting' | 'ended';

/** One run, as the store keeps it. */
export interface RunRecord {
  readonly id: string;
  readonly spec: RunSpec;
  readonly state: RunState;
  /** The order this run is done for. */
  readonly order: { readonly issue_ref: string; readonly run_id: string } | null;
  readonly worker_id: string | null;
  readonly lease_until: number | null;
  readonly cancel_requested: boolean;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly result: RunResult | null;
}
