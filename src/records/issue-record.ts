import { count, name, object, oneOf, orNull, timestamp } from '../base/index.js';
import type { FromSchema } from '../base/index.js';

/** The state of an issue. `needs-human` has priority: only a person's decision ends it. */
export const issueState = oneOf(['todo', 'doing', 'review', 'blocked', 'needs-human', 'done']);

/** One issue. Updates apply only if `active_run_id` or `active_group` still has the expected value. */
export const issueSchema = object(
  {
    issue_ref: name,
    state: issueState,
    /** The run whose result is used, until it is replaced. Null while a race is undecided. */
    active_run_id: orNull(name),
    /** The last number that was assigned to a run; never reset. */
    last_run_number: count,
    updated_at: timestamp,
  },
  {
    /** The undecided race, named by the run id of its first run; absent once a run has won or a person has chosen. */
    active_group: name,
  },
);

/** See {@link issueState}. */
export type IssueState = FromSchema<typeof issueState>;

/** One issue. */
export type IssueRecord = FromSchema<typeof issueSchema>;
