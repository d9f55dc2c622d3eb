import {
  name,
  object,
  oneOf,
  orNull,
  timestamp,
  count,
  type FromSchema,
  arrayOf,
  text,
  flag,
} from '../../base/index.js';
import { workOrder } from './work-order.js';
import { RESULT_CODES, workResult } from './work-result.js';
import { problemSchema, readingSource, readingSchema } from './reading.js';

export const evidenceSchema = object(
  {
    claim: oneOf(['commit', 'pr', 'tests', 'paths', 'result']),
    /** `worker`: only the agent claims it. `sluice`: Sluice checked it. */
    by: oneOf(['worker', 'sluice']),
    verdict: oneOf(['confirmed', 'contradicted', 'unchecked']),
    /** An explanation for users. */
    detail: text,
  },
  {
    /** The check run that confirmed or contradicted the claim. */
    run: name,
    /** The changed files that keep a check from proving anything. */
    files: arrayOf(text),
    /** How the change modifies exactly these files, as a patch; truncated if it is long. */
    diff: text,
  },
);

/** One fact about a work result: the claim, its source, and whether it is true. */
export type Evidence = FromSchema<typeof evidenceSchema>;

/** The possible decisions about an order. */
export const decisionAction = oneOf(['advance', 'archive', 'needs-human', 'blocked']);

const decisionSchema = object(
  {
    action: decisionAction,
    /** Explains the decision to users. */
    reason: text,
    result_code: oneOf(RESULT_CODES),
    /** What to do next, for users. */
    next: text,
  },
  {
    /** Evidence for the decision; absent in decisions made by earlier versions. */
    evidence: arrayOf(evidenceSchema),
  },
);

/** A decision about an order; `reason` and `next` are written for users. */
export type Decision = FromSchema<typeof decisionSchema>;

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

export type IssueState = FromSchema<typeof issueState>;

/** One issue. */
export type IssueRecord = FromSchema<typeof issueSchema>;

/** The state of an order. `canceled`: another run replaced it before it was claimed. */
export const orderState = oneOf(['queued', 'running', 'settled', 'canceled']);

/** One order, identified by issue and run id. The run record has its claim, lease and cancellation. */
export const orderRecordSchema = object(
  {
    order: workOrder,
    /** The id of the run that executes the order, and of its run folder. */
    run: name,
    worker_type: name,
    state: orderState,
    /** The commit that was checked out at the start, kept by a retry; null before that and without a repository. */
    base_commit: orNull(name),
    created_at: timestamp,
    started_at: orNull(timestamp),
    settled_at: orNull(timestamp),
    decision: orNull(decisionSchema),
    /** The agent's report when the order was settled; null if it could not be read. */
    result: orNull(workResult),
  },
  {
    /** The race the order takes part in, named by the run id of its first run. */
    group: name,
  },
);

export type OrderState = FromSchema<typeof orderState>;

/** One stored order. */
export type OrderRecord = FromSchema<typeof orderRecordSchema>;

/** One decision about an order, and the execution it is based on. Append-only: a human decision adds another row. */
export const executionSchema = object(
  {
    id: name,
    issue_ref: name,
    run_id: name,
    run: name,
    worker: name,
    worker_type: name,
    command: arrayOf(text),
    /** The version reported by the agent, if any. */
    worker_version: orNull(text),
    parser_version: name,
    started_at: orNull(timestamp),
    duration_ms: orNull({ type: 'number', minimum: 0 }),
    exit_code: orNull({ type: 'integer' }),
    signal: orNull(name),
    /** The format the result was found in. */
    result_encoding: readingSource,
    /** The file or stream the result was read from, or null. */
    parse_path: orNull(text),
    parse_status: oneOf(['parsed', 'incomplete', 'unreadable', 'anchors', 'missing']),
    problems: arrayOf(problemSchema),
    decision: decisionAction,
    result_code: name,
    reason: text,
    /** Who made the decision: a user's name, or null for the rules. */
    who: orNull(name),
    at: timestamp,
  },
  {
    /** Evidence for the decision; absent in records of earlier versions and for human decisions. */
    evidence: arrayOf(evidenceSchema),
  },
);

/** One decision about an order, and the execution it is based on. */
export type ExecutionRecord = FromSchema<typeof executionSchema>;

/** A diff line with its number before and after the change; null if the line does not exist on that side. */
const changedLine = object({
  kind: oneOf(['same', 'added', 'removed']),
  old_line: orNull(count),
  new_line: orNull(count),
  text,
});

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

export type ChangedFile = FromSchema<typeof changedFileSchema>;

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

export type Race = FromSchema<typeof raceSchema>;

/** The possible human decisions. `edit`: the user corrects the result and accepts it. */
export const resolutionAction = oneOf(['accept', 'reject', 'retry', 'edit']);

const resolutionSchema = object(
  {
    action: resolutionAction,
    who: name,
    why: text,
    /** The issue's state after the action. */
    decision: decisionAction,
    at: timestamp,
  },
  {
    result: workResult,
    /** The user's comments on changed lines. */
    comments: lineComments,
    /** The run started by a retry. */
    new_run_id: name,
  },
);

const supersededSchema = object({
  action: { const: 'superseded' },
  /** `lead`, or the user who accepted another result of the race. */
  who: name,
  why: text,
  /** The run of the new order, or the run whose result was accepted. */
  new_run_id: name,
  at: timestamp,
});

/** A question that requires a human decision. It stays open until it is decided, without a time limit. */
export const inboxItemSchema = object(
  {
    id: name,
    issue_ref: name,
    run_id: name,
    run: name,
    reason: text,
    next: text,
    result_code: name,
    reading: readingSchema,
    exit_code: orNull({ type: 'integer' }),
    signal: orNull(name),
    created_at: timestamp,
    /** Null while the item is open. */
    resolution: { anyOf: [resolutionSchema, supersededSchema, { type: 'null' }] },
  },
  {
    /** Evidence about the result, besides the agent's report. */
    evidence: arrayOf(evidenceSchema),
    /** The race the run took part in; a user chooses between its results. */
    group: name,
  },
);

/** A question that requires a human decision. */
export type InboxItem = FromSchema<typeof inboxItemSchema>;

/** A human decision and the reason for it. */
export type Resolution = FromSchema<typeof resolutionSchema>;

/** Closed without a decision: a new order was submitted for the issue, or another result of the race was accepted. */
export type Superseded = FromSchema<typeof supersededSchema>;

/**
 * Marks the author of a decision as a name that a local user has given without proof.
 *
 * @example
 * markUnverified('ada') // 'ada (unverified local user)'
 */
export function markUnverified(who: string): string {
  return `${who} (unverified local user)`;
}

/** A comment's delivery state. `dead`: delivery failed permanently. */
export const outboxState = oneOf(['waiting', 'sending', 'delivered', 'dead']);

/** A comment to be delivered to one sink. Identified by `sink`, `issue_ref` and `trigger`. */
export const outboxMessageSchema = object({
  id: name,
  sink: name,
  issue_ref: name,
  /** `workrun:<RunId>` or `resolve:<inbox id>`; lets a sink recognise a repeated delivery. */
  trigger: name,
  body: text,
  state: outboxState,
  /** How often the comment has been claimed, including now. After the first, it might already have been sent. */
  tries: count,
  /** Not sent before this time, in milliseconds since 1970. */
  due_at: { type: 'integer' },
  lease_until: orNull({ type: 'integer' }),
  last_error: orNull(text),
  /** The URL or file the sink wrote the comment to. */
  delivered_to: orNull(text),
  created_at: timestamp,
});

/** A comment to be delivered to one sink. */
export type OutboxMessage = FromSchema<typeof outboxMessageSchema>;

/** A comment that is not queued yet. */
export type NewOutboxMessage = Pick<OutboxMessage, 'id' | 'sink' | 'issue_ref' | 'trigger' | 'body'>;

/** A sink with undelivered comments. */
export const sinkStateSchema = object({
  name,
  /** `failing`: a comment failed and will be retried. `broken`: one failed permanently and must be redelivered. */
  state: oneOf(['waiting', 'failing', 'broken']),
  /** Comments that will be sent or retried. */
  open: count,
  /** Comments that failed permanently. */
  dead: count,
  /** The latest error of these comments. */
  last_error: orNull(text),
  /** When the oldest of these comments was written. */
  oldest_at: timestamp,
});

export type SinkState = FromSchema<typeof sinkStateSchema>;
