/** Where an issue stands. `needs-human` outranks everything: nothing leaves it but a person. */
export type IssueState = 'todo' | 'doing' | 'review' | 'blocked' | 'needs-human' | 'done';

/** One issue, as the store keeps it. Only a guarded update on `active_run_id` changes it. */
export interface IssueRecord {
  readonly issue_ref: string;
  readonly state: IssueState;
  /** The run whose result counts; stays until it is replaced. */
  readonly active_run_id: string | null;
  /** The last NNNN handed out; never reset. */
  readonly last_run_number: number;
  readonly updated_at: string;
}
