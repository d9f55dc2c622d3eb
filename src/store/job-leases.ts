/** Work that one process at a time does for all that share the store, such as deleting old data. */
export interface JobLeases {
  /**
   * Assigns those of the jobs that no other process holds to this process until `until`, and returns their names. A process
   * that calls again in time holds them longer; otherwise it loses them.
   */
  leaseJobs(hold: JobLeaseRequest): Promise<readonly string[]>;
  /** Releases all jobs of a process, so that another one can hold them immediately. */
  releaseJobs(owner: string): Promise<void>;
}

/** The jobs that a process requests. Times are milliseconds since 1970. */
export interface JobLeaseRequest {
  readonly names: readonly string[];
  /** Identifies the process. */
  readonly owner: string;
  readonly now: number;
  readonly until: number;
}
