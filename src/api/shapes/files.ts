import { count, name, object, oneOf, orNull } from '../../base/index.js';

/** The files of a run. */
export const runFilesSchema = object(
  {
    /** Where the files are read from; null if they are only on another machine or were deleted. */
    source: orNull(oneOf(['folder', 'archive'])),
    /** Output, input and report of the agent, by the name that `/evidence` accepts. */
    evidence: { type: 'array', items: object({ name, size: count }) },
    /** Files changed in the working folder; no size if the file was deleted or is not a regular file. */
    artifacts: {
      type: 'array',
      items: object({ path: name, change: oneOf(['created', 'modified', 'deleted']), size: orNull(count) }),
    },
    /** How many more artifacts there are: the list ends after 1,000. */
    artifacts_left_out: count,
  },
  {
    /** The machine that executed the run, if the files are not read from its folder. */
    host: name,
  },
);
