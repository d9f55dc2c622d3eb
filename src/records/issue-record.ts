import { count, name, object, oneOf, orNull, timestamp } from '../base/index.js';
import type { FromSchema } from '../base/index.js';

/** The state of an issue. `needs-human` outranks everything: only a person's decision leaves it. */
export const issueState = oneOf(['todo', 'doing', 'review', 'blocked', 'needs-human', 'done']);

/** One issue. Only an update guarded by `active_run_id` or `active_group` changes it. */
export const issueSchema = object(
  {
    issue_ref: name,
    state: issueState,
    /** The run whose result counts; stays until it is replaced. Null while a race is undecided. */
    active_run_id: orNull(name),
    /** The last NNNN assigned; never reset. */
    last_run_number: count,
    updated_at: timestamp,
  },
  {
    /** The race whose results count, by the run id of its first run; absent once a run has won it or a person has chosen. */
    active_group: name,
  },
);

/** See {@link issueState}. */
export type IssueState = FromSchema<typeof issueState>;

/** One issue. */
export type IssueRecord = FromSchema<typeof issueSchema>;
