/** How long things are kept that nobody waits for; what has no age is kept for good. Milliseconds. */
export interface RetentionSettings {
  /** The folders and events of runs, from their end on. */
  readonly runsMs?: number | undefined;
  /** Delivered comments in the outbox, from the moment they were written. */
  readonly deliveredMs?: number | undefined;
  /** Kept results. */
  readonly resultsMs?: number | undefined;
}
