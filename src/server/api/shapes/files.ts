import { count, name, object, oneOf, orNull } from '../../../base/index.js';

/** A run's files. */
export const runFilesSchema = object(
  {
    /** Where the files are loaded from; null if they are only on another host or were deleted. */
    source: orNull(oneOf(['folder', 'archive'])),
    /** The agent's output, input and report, by the name that `/evidence` accepts. */
    evidence: { type: 'array', items: object({ name, size: count }) },
    /** Files changed in the working folder; no size if the file was deleted or is not a regular file. */
    artifacts: {
      type: 'array',
      items: object({ path: name, change: oneOf(['created', 'modified', 'deleted']), size: orNull(count) }),
    },
    /** The number of unlisted artifacts: the list is limited to 1,000. */
    artifacts_left_out: count,
  },
  {
    /** The host that executed the run, if the files are not loaded from its folder. */
    host: name,
  },
);
