import { count, name, object, oneOf, orNull, timestamp } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';

/** The state of an issue. `needs-human` takes precedence: only a human decision ends it. */
export const issueState = oneOf(['todo', 'doing', 'review', 'blocked', 'needs-human', 'done']);

/** One issue. Updates apply only if `active_run_id` or `active_group` still has the expected value. */
export const issueSchema = object(
  {
    issue_ref: name,
    state: issueState,
    /** The run whose result counts, until another run replaces it. Null while a race is undecided. */
    active_run_id: orNull(name),
    /** The last run number assigned; never reset. */
    last_run_number: count,
    updated_at: timestamp,
  },
  {
    /** The undecided race, named by the run id of its first run; absent once a run has won or a user has chosen one. */
    active_group: name,
  },
);

/** See {@link issueState}. */
export type IssueState = FromSchema<typeof issueState>;

/** One issue. */
export type IssueRecord = FromSchema<typeof issueSchema>;
