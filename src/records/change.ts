import { arrayOf, count, flag, name, object, oneOf, orNull, text } from '../base/index.js';
import type { FromSchema } from '../base/index.js';

/** A line of a change with its number before and after; null if the line does not exist there. */
const changedLine = object({
  kind: oneOf(['same', 'added', 'removed']),
  old_line: orNull(count),
  new_line: orNull(count),
  text,
});

/** One file of a change. */
export const changedFileSchema = object(
  {
    path: name,
    change: oneOf(['added', 'modified', 'deleted', 'renamed']),
    added: count,
    removed: count,
    /** Whether the file is binary: its lines are not shown. */
    binary: flag,
    /** Whether more lines were changed than are listed. */
    truncated: flag,
    /** Groups of changed lines, with a few unchanged lines around them. */
    hunks: arrayOf(object({ heading: text, lines: arrayOf(changedLine) })),
  },
  {
    /** The previous path of a renamed file. */
    old_path: name,
  },
);

/** The changes of an order since it started; the size is limited. */
export const changeSchema = object(
  {
    issue_ref: name,
    run_id: name,
    /** `commit`: the committed changes. `worktree`: the current files, committed or not. `none`: see `why`. */
    source: oneOf(['commit', 'worktree', 'none']),
    /** The commit that was checked out when the work started. */
    base_commit: orNull(name),
    /** The commit that is shown; null for files that are not committed. */
    commit: orNull(name),
    files: arrayOf(changedFileSchema),
    /** Whether more files were changed than are listed. */
    truncated: flag,
  },
  {
    /** A sentence that explains why there is nothing to show. */
    why: text,
  },
);

/** One file of a change. */
export type ChangedFile = FromSchema<typeof changedFileSchema>;

/** The changes of an order since it started. */
export type Change = FromSchema<typeof changeSchema>;

/** A person's comment on a line of a change. */
export const lineCommentSchema = object({
  path: { type: 'string', minLength: 1, maxLength: 4096, pattern: '^[^\\u0000]+$' },
  line: { type: 'integer', minimum: 1, maximum: 100_000_000 },
  /** `old`: a line before the change; `new`: after it. */
  side: oneOf(['old', 'new']),
  text: { type: 'string', minLength: 1, maxLength: 5000, pattern: '^[^\\u0000]*\\S[^\\u0000]*$' },
});

/** The comments of a review; this many fit into the instructions of a retry. */
export const lineComments = { type: 'array', maxItems: 100, items: lineCommentSchema } as const;

/** A person's comment on a line of a change. */
export type LineComment = FromSchema<typeof lineCommentSchema>;
