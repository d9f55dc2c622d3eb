export {
  INSTRUCTIONS_LENGTH,
  WORK_REQUEST_SCHEMA,
  REQUEST_ID,
  WORK_ORDER_SCHEMA,
  WORKER_NAME,
  type WorkRequest,
  type WorkOrder,
} from './work-order.js';
export { WORK_RESULT_SCHEMA, RESULT_STATUSES, workResult, type WorkResult } from './work-result.js';
export { decisionAction, type Decision } from './decision.js';
export { evidenceSchema, type Evidence } from './evidence.js';
export { executionSchema, type ExecutionRecord } from './execution-record.js';
export {
  inboxItemSchema,
  markUnverified,
  resolutionAction,
  type InboxItem,
  type Resolution,
  type Superseded,
} from './inbox-item.js';
export {
  issueSchema,
  issueState,
  type IssueRecord,
  type IssueState,
  orderRecordSchema,
  type OrderRecord,
  type OrderState,
} from './order-record.js';
export {
  outboxMessageSchema,
  outboxState,
  sinkStateSchema,
  type NewOutboxMessage,
  type OutboxMessage,
  type SinkState,
} from './outbox-message.js';
export { problemSchema, type ReadingSource, type Reading, type Problem, isIncompleteCode } from './reading.js';
export { approvalRulesSchema, type ApprovalRule } from './approval-rule.js';
export {
  decodeReply,
  encodeReply,
  permissionChoiceSchema,
  type PermissionReply,
  type RunReply,
  runRecordSchema,
  runState,
  type RunRecord,
  type RunState,
  type WorkerIdentity,
  describeWaitingFor,
  type WaitingFor,
} from './run-record.js';
export { engineNameSchema, RUN_ENGINES, type RunEngine } from './run-engine.js';
export {
  repairLevel,
  runFailureSchema,
  runOutcome,
  runResultSchema,
  type RunResult,
  type RunProcess,
  type RunDrift,
  type RunFailure,
  type RunDiagnostic,
  type RunDenial,
  type FailureCause,
  type RunSandbox,
  type RunWarning,
} from './run-result.js';
export {
  runMode,
  runPermissions,
  runSpecSchema,
  sandboxUse,
  storedRunSpec,
  type RunSpec,
  type RunContract,
  type RunLimits,
  type StoredRunSpec,
} from './run-spec.js';
export { getRepository, toFileName, isIssueRef, describeIssueRef } from './issue-ref.js';
export { workerSchema, workerState, type WorkerRecord } from './worker-record.js';
export { type ResultCode, RESULT_CODES } from './result-code.js';
export { formatRunId, parseRunId } from './run-id.js';
export {
  changeSchema,
  lineComments,
  type Change,
  type ChangedFile,
  type LineComment,
  raceSchema,
  type Race,
} from './change.js';
export { budgetsSchema, type Budget, type BudgetReport } from './budget.js';
