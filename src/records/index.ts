export {
  WORK_REQUEST_SCHEMA,
  REQUEST_ID,
  type WorkRequest,
  type WorkOrder,
  WORK_ORDER_SCHEMA,
  WORKER_NAME,
} from './work-order.js';
export { runSpecSchema } from './run-spec-schema.js';
export type { Decision } from './decision.js';
export type { ExecutionRecord } from './execution-record.js';
export type { OrderRecord, OrderState, WorkerIdentity } from './order-record.js';
export type { OutboxMessage, NewOutboxMessage } from './outbox-message.js';
export { RUN_ENGINES, type RunEngine } from './run-engine.js';
export type { RunResult, RunProcess, RunDrift, RunFailure } from './run-result.js';
export type { RunSpec, RunContract, RunLimits } from './run-spec.js';
export type { InboxItem, Resolution, Superseded } from './inbox-item.js';
export type { ReadingSource, Reading, Problem } from './reading.js';
export type { RunRecord, RunState } from './run-record.js';
export type { IssueState, IssueRecord } from './issue-record.js';
export { repositoryOf, fileNameOf, isIssueRef, describeIssueRef } from './issue-ref.js';
export { type WorkResult, WORK_RESULT_SCHEMA, type TestReport, RESULT_STATUSES, TEST_RESULTS } from './work-result.js';
export { isIncompleteCode, PROBLEM_CODES, type ProblemCode } from './problem-codes.js';
export { type ResultCode, RESULT_CODES } from './result-code.js';
export { formatRunId, parseRunId, type RunIdParts } from './run-id.js';
export type { RunWarning } from './run-warning.js';
