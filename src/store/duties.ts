/** Work that one process at a time does for all that share the store, such as deleting old data. */
export interface Duties {
  /**
   * Assigns those of the duties that no other process holds to this process until `until`, and returns their names. A process
   * that calls again in time holds them longer; otherwise it loses them.
   */
  holdDuties(hold: DutyHold): Promise<readonly string[]>;
  /** Releases all duties of a process, so that another one can hold them immediately. */
  releaseDuties(owner: string): Promise<void>;
}

/** The duties that a process requests. Times are milliseconds since 1970. */
export interface DutyHold {
  readonly names: readonly string[];
  /** Identifies the process. */
  readonly owner: string;
  readonly now: number;
  readonly until: number;
}
