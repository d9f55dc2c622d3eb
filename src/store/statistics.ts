import type { InboxItem } from '../records/index.js';
import type { RunSlot, RunSpan } from './roll-up.js';

/** Figures over time. */
export interface Statistics {
  /**
   * Counts of all runs that ended in a span, by engine, in slots of time no longer than its steps. How long it takes depends
   * on the number of slots, not of runs: ended runs are counted by {@link countEndedRuns}.
   */
  listRunSlots(span: RunSpan): Promise<readonly RunSlot[]>;
  /** Adds runs that have ended to their slots, at most so many, each once; returns how many. */
  countEndedRuns(limit: number): Promise<number>;
  /** Inbox items that were open at some time of a span: at most `limit` open ones and as many of the latest others. */
  listInboxFigures(span: FigureSpan): Promise<readonly InboxFigure[]>;
}

/** Milliseconds since 1970: from `since` to before `until`. */
export interface FigureSpan {
  readonly since: number;
  readonly until: number;
  readonly limit: number;
}

/** The figures of an inbox item. */
export interface InboxFigure {
  readonly created_at: number;
  readonly resolved_at: number | null;
  /** The first problem of the result, or the code of the decision where there was none. */
  readonly cause: string;
}

/** The figures of an inbox item, if it was open in the span. */
export function inboxFigures(items: Iterable<InboxItem>, { since, until }: FigureSpan): InboxFigure[] {
  return [...items].map(createFigure).filter(({ created_at, resolved_at }) => {
    return created_at < until && (resolved_at === null || resolved_at >= since);
  });
}

function createFigure({ created_at, resolution, reading, result_code }: InboxItem): InboxFigure {
  return {
    created_at: Date.parse(created_at),
    resolved_at: resolution === null ? null : Date.parse(resolution.at),
    cause: reading.problems[0]?.code ?? result_code,
  };
}
