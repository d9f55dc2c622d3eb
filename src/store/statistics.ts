import type { InboxItem } from '../records/index.js';
import type { RunDigest } from './run-digest.js';

/** Figures over time. Every method reads a bounded number of rows through an index. */
export interface Statistics {
  /** Runs that ended in a span, the latest first. */
  listRunFigures(span: FigureSpan): Promise<readonly RunFigure[]>;
  /** Inbox items that were open at some time of a span: at most `limit` open ones and as many of the latest others. */
  listInboxFigures(span: FigureSpan): Promise<readonly InboxFigure[]>;
}

/** Milliseconds since 1970: from `since` to before `until`. */
export interface FigureSpan {
  readonly since: number;
  readonly until: number;
  readonly limit: number;
}

/** The figures of a run that has ended. Times are milliseconds since 1970. */
export interface RunFigure extends RunDigest {
  readonly engine: string;
  readonly started_at: number | null;
  readonly ended_at: number;
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
