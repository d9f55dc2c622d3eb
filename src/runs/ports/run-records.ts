import type { RunRecord, RunResult, RunSpec, RunState } from '../../records/index.js';

/** Which runs are listed. */
export interface RunFilter {
  readonly limit?: number;
  readonly cursor?: string;
  readonly state?: RunState;
  readonly engine?: string;
  /** Words that all stand, in whatever case, in its id, engine, issue, folder, program or prompt. */
  readonly search?: string;
  readonly outcome?: RunResult['status'];
  readonly repairLevel?: RunResult['repair_level'];
  /** Created at this time or later. */
  readonly since?: number;
  /** Created before this time. */
  readonly until?: number;
}

/** The queue of runs, and what is known of each. Each method is one transaction; times are milliseconds since 1970. */
export interface RunRecords {
  /**
   * Queues a run, or writes down one that already runs. A run that is there stays as it is: the one of that id, or the one
   * that was asked for under `requestId`. Another spec under that request id is refused with `REQUEST_ID_REUSED`.
   */
  createRun(run: {
    readonly id: string;
    readonly spec: RunSpec;
    readonly state: 'queued' | 'running';
    readonly requestId?: string;
    readonly order?: RunRecord['order'];
    readonly workerId?: string;
    readonly leaseMs?: number;
    readonly now: number;
  }): Promise<{ readonly id: string; readonly repeated: boolean }>;
  claimRun(claim: {
    readonly workerId: string;
    readonly leaseMs: number;
    readonly now: number;
  }): Promise<RunRecord | undefined>;
  /** Prolongs the lease and tells what was asked of the run meanwhile. */
  renewRun(hold: {
    readonly id: string;
    readonly workerId: string;
    readonly leaseMs: number;
    readonly now: number;
    readonly state: 'running' | 'waiting';
  }): Promise<{ readonly held: boolean; readonly cancel: boolean; readonly reply: string | null }>;
  /** False if the lease was lost: another worker has the last word. */
  endRun(end: {
    readonly id: string;
    readonly workerId: string;
    readonly result: RunResult;
    readonly now: number;
  }): Promise<boolean>;
  requestCancel(id: string, now: number): Promise<RunRecord | undefined>;
  /** Keeps the answer to the question a run waits with, for its worker to take; `not_waiting` if there is none. */
  postReply(id: string, text: string): Promise<'posted' | 'not_waiting' | 'not_found'>;
  /** Running runs whose lease has run out: their worker is gone. */
  listExpiredRuns(now: number): Promise<readonly RunRecord[]>;
  findRun(id: string): Promise<RunRecord | undefined>;
  /**
   * Newest first. With more than state and engine to look for, a page looks at a bounded number of runs: it may be short,
   * or empty, and still have a next one.
   */
  listRuns(page: RunFilter): Promise<{ readonly items: readonly RunRecord[]; readonly next_cursor: string | null }>;
}
