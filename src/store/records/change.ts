import { arrayOf, count, flag, name, object, oneOf, orNull, text } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';
import { decisionSchema } from './decision.js';
import { orderState } from './order-record.js';

/** A diff line with its number before and after the change; null if the line does not exist on that side. */
const changedLine = object({
  kind: oneOf(['same', 'added', 'removed']),
  old_line: orNull(count),
  new_line: orNull(count),
  text,
});

/** A changed file. */
const changedFileSchema = object(
  {
    path: name,
    change: oneOf(['added', 'modified', 'deleted', 'renamed']),
    added: count,
    removed: count,
    /** Whether the file is binary, so its lines are not shown. */
    binary: flag,
    /** Whether more lines changed than are listed. */
    truncated: flag,
    /** Changed lines, with a few lines of context. */
    hunks: arrayOf(object({ heading: text, lines: arrayOf(changedLine) })),
  },
  {
    /** The previous path of a renamed file. */
    old_path: name,
  },
);

/** The changes an order has made since it started, limited in size. */
export const changeSchema = object(
  {
    issue_ref: name,
    run_id: name,
    /** `commit`: the committed changes. `worktree`: the current files, committed or not. `none`: see `why`. */
    source: oneOf(['commit', 'worktree', 'none']),
    /** The commit that was checked out when the work started. */
    base_commit: orNull(name),
    /** The commit shown; null for uncommitted files. */
    commit: orNull(name),
    files: arrayOf(changedFileSchema),
    /** Whether more files changed than are listed. */
    truncated: flag,
  },
  {
    /** Why there is nothing to show. */
    why: text,
  },
);

/** One file of a change. */
export type ChangedFile = FromSchema<typeof changedFileSchema>;

/** The changes an order has made since it started. */
export type Change = FromSchema<typeof changeSchema>;

/** A reviewer's comment on a changed line. */
const lineCommentSchema = object({
  path: { type: 'string', minLength: 1, maxLength: 4096, pattern: '^[^\\u0000]+$' },
  line: { type: 'integer', minimum: 1, maximum: 100_000_000 },
  /** `old`: the line before the change; `new`: after it. */
  side: oneOf(['old', 'new']),
  text: { type: 'string', minLength: 1, maxLength: 5000, pattern: '^[^\\u0000]*\\S[^\\u0000]*$' },
});

/** Review comments; more would not fit into the instructions of a retry. */
export const lineComments = { type: 'array', maxItems: 100, items: lineCommentSchema } as const;

/** A reviewer's comment on a changed line. */
export type LineComment = FromSchema<typeof lineCommentSchema>;

/** The orders of a race with their changes, or a single order that is not part of a race. */
export const raceSchema = object({
  issue_ref: name,
  /** Null for an order that is not part of a race. */
  group: orNull(name),
  /** The run whose result counts; null until a run has won or a user has chosen one. */
  winner: orNull(name),
  runs: arrayOf(
    object({
      run_id: name,
      worker: name,
      state: orderState,
      decision: orNull(decisionSchema),
      /** The open inbox item for the order, or null. */
      inbox_id: orNull(name),
      change: changeSchema,
    }),
  ),
});

/** The orders of a race with their changes. */
export type Race = FromSchema<typeof raceSchema>;
