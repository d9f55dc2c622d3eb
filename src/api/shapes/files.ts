import { count, name, object, oneOf, orNull } from '../../base/index.js';

/** What a run left behind. */
export const runFilesSchema = object(
  {
    /** Where its files are read from; null if they are only on another machine, or deleted. */
    source: orNull(oneOf(['folder', 'archive'])),
    /** What it printed and was given, and what it reported: by the name that `/evidence` takes. */
    evidence: { type: 'array', items: object({ name, size: count }) },
    /** What it changed in its working folder; no size where the file is gone, or no plain file. */
    artifacts: {
      type: 'array',
      items: object({ path: name, change: oneOf(['created', 'modified', 'deleted']), size: orNull(count) }),
    },
    artifacts_left_out: count,
  },
  {
    /** The machine that executed the run, if its folder is not here. */
    host: name,
  },
);
