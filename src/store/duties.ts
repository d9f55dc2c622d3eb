/** Work that one process at a time does for all that share the store, such as deleting old data. */
export interface Duties {
  /**
   * Holds duties for a while, those that no other process holds, and returns which. Asking again before the time is up
   * extends it; a process that does not ask again loses them.
   */
  holdDuties(wanted: DutyHold): Promise<readonly string[]>;
  /** Releases all duties of a process, so that another one can take them at once. */
  releaseDuties(owner: string): Promise<void>;
}

/** The duties a process wants. Times are milliseconds since 1970. */
export interface DutyHold {
  readonly names: readonly string[];
  /** Identifies the process. */
  readonly owner: string;
  readonly now: number;
  readonly until: number;
}
