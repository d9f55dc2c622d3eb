import type { Decision, Reading, WorkOrder } from '../records/index.js';

/** One execution: the command, its exit, its parsed result, and the decision. */
export interface Execution {
  readonly id: string;
  readonly order: Pick<WorkOrder, 'issue_ref' | 'run_id' | 'worker'>;
  readonly run: string;
  readonly workerType: string;
  /** The command that was started; empty if nothing was started. */
  readonly command?: readonly string[];
  readonly workerVersion?: string | null;
  readonly startedAt?: string | null;
  readonly durationMs?: number | null;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly reading: Reading;
  readonly decision: Decision;
  /** The user who decided; null if the rules did. */
  readonly who?: string | null;
  /** The time of the decision. */
  readonly at: string;
}
