export { INSTRUCTIONS_LENGTH, WORK_REQUEST_SCHEMA, REQUEST_ID, WORK_ORDER_SCHEMA, WORKER_NAME } from './work-order.js';
export type { WorkRequest, WorkOrder } from './work-order.js';
export { WORK_RESULT_SCHEMA, RESULT_STATUSES, workResult, type WorkResult } from './work-result.js';
export { decisionAction, type Decision } from './order-record.js';
export { evidenceSchema, type Evidence } from './order-record.js';
export { executionSchema, type ExecutionRecord } from './order-record.js';
export { inboxItemSchema, markUnverified, resolutionAction } from './order-record.js';
export type { InboxItem, Resolution, Superseded } from './order-record.js';
export { issueSchema, issueState, orderRecordSchema } from './order-record.js';
export type { IssueRecord, IssueState, OrderRecord, OrderState } from './order-record.js';
export { outboxMessageSchema, outboxState, sinkStateSchema } from './order-record.js';
export type { NewOutboxMessage, OutboxMessage, SinkState } from './order-record.js';
export { problemSchema, readingSchema, isIncompleteCode } from './reading.js';
export type { Reading, Problem } from './reading.js';
export { approvalRulesSchema, type ApprovalRule } from './run-spec.js';
export { decodeReply, encodeReply, permissionChoiceSchema, runRecordSchema, runState } from './run-record.js';
export { describeWaitingFor } from './run-record.js';
export type {
  PermissionReply,
  RefusedAnswer,
  RunReply,
  RunRecord,
  RunState,
  WorkerIdentity,
  WaitingFor,
} from './run-record.js';
export { engineNameSchema, RUN_ENGINES, type RunEngine } from './run-spec.js';
export { repairLevel, runFailureSchema, runOutcome, runResultSchema } from './run-result.js';
export type { RunResult, RunProcess, RunDrift, RunFailure, RunDiagnostic, RunDenial } from './run-result.js';
export type { RunSandbox, RunWarning } from './run-result.js';
export {
  imageName,
  PLACEMENT_FIELDS,
  labelsSchema,
  runMode,
  runPermissions,
  runSpecSchema,
  sandboxUse,
  storedRunSpec,
} from './run-spec.js';
export type { Labels, RunSpec, RunContract, RunLimits, StoredRunSpec } from './run-spec.js';
export { getRepository, toFileName, isIssueRef, describeIssueRef } from './issue-ref.js';
export {
  scheduleTickSchema,
  schedulePauseSchema,
  scheduleSchema,
  type ScheduleTick,
  type SchedulePause,
  type ScheduleView,
} from './run-record.js';
export { workerSchema, workerState, type WorkerRecord } from './run-record.js';
export { type ResultCode, RESULT_CODES } from './work-result.js';
export { formatRunId, parseRunId } from './run-id.js';
export { changeSchema, lineComments, raceSchema } from './order-record.js';
export type { Change, ChangedFile, LineComment, Race } from './order-record.js';
export { budgetsSchema, type Budget, type BudgetReport } from './run-record.js';
