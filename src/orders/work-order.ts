/** What a lead asks for: an order that has no run yet. */
export interface WorkRequest {
  readonly issue_ref: string;
  /** Who does it: `backend`, `qa`; part of the run id. */
  readonly role: string;
  /** The repository the worker works in. */
  readonly repo_dir: string;
  /** Names a wrapper. */
  readonly worker: string;
  readonly instructions: string;
  readonly constraints?: readonly string[];
  readonly spec_ref?: string;
  readonly contracts_ref?: string;
  /** Issues that must be in review or done before this one may start. */
  readonly depends_on?: readonly string[];
  /** The same id gives the same order, however often it is sent. */
  readonly request_id?: string;
  /** Higher goes first; 0 by default. */
  readonly priority?: number;
  /** `worktree`: a git worktree of its own, so that several orders of one repository can run at once. */
  readonly isolation?: 'repository' | 'worktree';
}

/** A request with its run: what a worker is given. */
export interface WorkOrder extends WorkRequest {
  /** `YYYY-MM-DD-role-NNNN`: a new one for every spawn, retry and switch. */
  readonly run_id: string;
}
