import { arrayOf, count, flag, name, object, oneOf, orNull, text } from '../base/index.js';
import type { FromSchema } from '../base/index.js';

/** A line of a change: its number before and after, null if it is not there. */
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
    /** Not a text: no lines are shown. */
    binary: flag,
    /** More lines were changed than are shown. */
    truncated: flag,
    /** Lines that belong together, with a few unchanged ones around them. */
    hunks: arrayOf(object({ heading: text, lines: arrayOf(changedLine) })),
  },
  {
    /** Where a renamed file was. */
    old_path: name,
  },
);

/** The changes of an order since it began, bounded. */
export const changeSchema = object(
  {
    issue_ref: name,
    run_id: name,
    /** `commit`: what was committed. `worktree`: the files as they are, committed or not. `none`: see `why`. */
    source: oneOf(['commit', 'worktree', 'none']),
    /** The commit the repository stood at when the work began. */
    base_commit: orNull(name),
    /** The commit that is shown; null for files that are not committed. */
    commit: orNull(name),
    files: arrayOf(changedFileSchema),
    /** More files were changed than are listed. */
    truncated: flag,
  },
  {
    /** Why there is nothing to show, as a sentence. */
    why: text,
  },
);

/** One file of a change. */
export type ChangedFile = FromSchema<typeof changedFileSchema>;

/** The changes of an order since it began. */
export type Change = FromSchema<typeof changeSchema>;

/** A person's comment on a line of a change. */
export const lineCommentSchema = object({
  path: { type: 'string', minLength: 1, maxLength: 4096, pattern: '^[^\\u0000]+$' },
  line: { type: 'integer', minimum: 1, maximum: 100_000_000 },
  /** `old`: a line as it was; `new`: as it is now. */
  side: oneOf(['old', 'new']),
  text: { type: 'string', minLength: 1, maxLength: 5000, pattern: '^[^\\u0000]*\\S[^\\u0000]*$' },
});

/** Enough for a review; instructions have room for no more. */
export const lineComments = { type: 'array', maxItems: 100, items: lineCommentSchema } as const;

/** A person's comment on a line of a change. */
export type LineComment = FromSchema<typeof lineCommentSchema>;
