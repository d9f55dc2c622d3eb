import type { InboxHistory } from './inbox-roll-up.js';
import type { RunSlot, RunSpan } from './roll-up.js';

/** Figures over time. How long reading them takes depends on the number of slots, not of runs or inbox items. */
export interface Statistics {
  /** Counts of all runs that ended in a span, by engine, in slots of time no longer than its steps. */
  listRunSlots(span: RunSpan): Promise<readonly RunSlot[]>;
  /** Adds runs that have ended to their slots, at most so many, each once; returns how many. */
  countEndedRuns(limit: number): Promise<number>;
  /** What was opened and resolved in the inbox since the beginning of a span, in slots of time no longer than its steps. */
  readInboxHistory(span: RunSpan): Promise<InboxHistory>;
  /** Adds inbox items that were opened or resolved to their slots, at most so many items; returns how many. */
  countInboxItems(limit: number): Promise<number>;
}
