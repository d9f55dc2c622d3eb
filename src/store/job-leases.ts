/** Leases on jobs that one process at a time does for all processes sharing the store, such as deleting old data. */
export interface JobLeases {
  /**
   * Leases the requested jobs that no other process holds until `until`, and returns their names. A process renews its
   * leases by calling again in time.
   */
  leaseJobs(hold: JobLeaseRequest): Promise<readonly string[]>;
  /** Releases all of a process's jobs, so another process can lease them immediately. */
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
