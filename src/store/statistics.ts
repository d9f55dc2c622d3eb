import type { InboxItem } from '../records/index.js';
import type { RunDigest } from './run-digest.js';

/** What figures over time are made from. Every method looks at a bounded number of rows, found by an index. */
export interface Statistics {
  /** Runs that ended in a span, the latest first. */
  listRunFigures(span: FigureSpan): Promise<readonly RunFigure[]>;
  /** What waited for a person at some time of a span: of all that is open and of what came last, so many each. */
  listInboxFigures(span: FigureSpan): Promise<readonly InboxFigure[]>;
}

/** Milliseconds since 1970: from `since` to before `until`. */
export interface FigureSpan {
  readonly since: number;
  readonly until: number;
  readonly limit: number;
}

/** A run that has ended, as far as it is counted. Times are milliseconds since 1970. */
export interface RunFigure extends RunDigest {
  readonly engine: string;
  readonly started_at: number | null;
  readonly ended_at: number;
}

/** Something a person was asked, as far as it is counted. */
export interface InboxFigure {
  readonly created_at: number;
  readonly resolved_at: number | null;
  /** The first problem of the result, or the code of the decision where there was none. */
  readonly cause: string;
}

/** What is counted of an item, if it waited in the span. */
export function inboxFigures(items: Iterable<InboxItem>, { since, until }: FigureSpan): InboxFigure[] {
  return [...items].map(figureOf).filter(({ created_at, resolved_at }) => {
    return created_at < until && (resolved_at === null || resolved_at >= since);
  });
}

function figureOf({ created_at, resolution, reading, result_code }: InboxItem): InboxFigure {
  return {
    created_at: Date.parse(created_at),
    resolved_at: resolution === null ? null : Date.parse(resolution.at),
    cause: reading.problems[0]?.code ?? result_code,
  };
}
