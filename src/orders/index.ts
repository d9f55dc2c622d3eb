export { decide } from './decide/decide.js';
export type { DecisionCase } from './decide/decide.js';
export { decideByPerson } from './decide/decide-by-person.js';
export type { Decision } from './decide/decision.js';
export { executionOf, itemOf, parseStatusOf, READER_VERSION } from './execution.js';
export type { Execution } from './execution.js';
export { fileNameOf, isIssueRef } from './shapes/issue-ref.js';
export { ORDERS_ERROR_CODES, OrdersError } from './orders-error.js';
export type { OrdersErrorCode } from './orders-error.js';
export { PROBLEM_CODES } from './shapes/problem-codes.js';
export type { ProblemCode } from './shapes/problem-codes.js';
export { readWorkOrder, readWorkRequest } from './shapes/read-work-request.js';
export type { Problem, Reading, ReadingSource } from './reading/reading.js';
export { RESULT_CODES } from './shapes/result-code.js';
export type { ResultCode } from './shapes/result-code.js';
export { formatRunId, parseRunId } from './shapes/run-id.js';
export type { RunIdParts } from './shapes/run-id.js';
export { WORK_ORDER_SCHEMA, WORK_REQUEST_SCHEMA } from './shapes/work-order.js';
export type { WorkOrder, WorkRequest } from './shapes/work-order.js';
export { WORK_RESULT_SCHEMA } from './shapes/work-result.js';
export type { TestReport, WorkResult } from './shapes/work-result.js';

export { renderComment, triggerOf } from './comment/render-comment.js';
export type { CommentContent } from './comment/render-comment.js';
export { stateOf, stateOfResolution } from './comment/issue-state.js';

export { checkCommit } from './evidence/check-commit.js';
export type { CommitCheck } from './evidence/check-commit.js';
export { findMissingEvidence } from './evidence/missing-evidence.js';

export { readResultValue } from './reading/read-result-value.js';
export { readWorkResult } from './reading/read-work-result.js';
export type { ResultPlace } from './reading/read-work-result.js';

export { collectResult } from './wrappers/collect.js';
export type { Collected } from './wrappers/collect.js';
export type { PackFile } from './wrappers/context-pack.js';
export { injectionOf } from './wrappers/injection.js';
export type { Injection } from './wrappers/injection.js';
export { readWrappers, wrapperOf } from './wrappers/read-wrappers.js';
export type { Wrappers } from './wrappers/read-wrappers.js';
export { WORKER_TYPES } from './wrappers/worker-types.js';
export type { Wrapper } from './wrappers/wrapper.js';

export type { ExecutionRecord } from './ports/execution-record.js';
export type { InboxItem, Resolution } from './ports/inbox-item.js';
export type { IssueRecord, IssueState } from './ports/issue-record.js';
export type { OrderRecord, OrderState, WorkerIdentity } from './ports/order-record.js';
export type {
  ClaimedOrder,
  ExecutionFilter,
  ItemResolution,
  Listed,
  OrderClaim,
  OrderHold,
  OrderSettlement,
  OrderStore,
  OrderSubmission,
  Page,
  ResolveOutcome,
} from './ports/order-store.js';
export type { NewOutboxMessage, OutboxMessage } from './ports/outbox-message.js';
export type { OutboxStore } from './ports/outbox-store.js';

export { createLead } from './lead/create-lead.js';
export type { Lead, OrderNameOnTheWire } from './lead/create-lead.js';
export type { Backoff } from './lead/backoff.js';
export type { DeliveryReport } from './lead/deliver.js';
export type { ExecutionPorts } from './lead/execute-order.js';
export type { LeadOptions } from './lead/lead-context.js';
export { LEAD_ERROR_CODES, LeadError } from './lead/lead-error.js';
export type { LeadErrorCode } from './lead/lead-error.js';
export type { Reconciliation } from './lead/reconcile.js';
export type { Resolved, ResolveRequest } from './lead/resolve.js';
export type { OrderRun, StartOrderRun } from './lead/run-worker.js';
export type { OrderName, Settlement, WorkerEnd } from './lead/settle.js';
export type { SubmittedOrder } from './lead/submit.js';

export type { ForgeOptions } from './sinks/forge-options.js';
export { createGitHubSink } from './sinks/github-sink.js';
export { createGitLabSink } from './sinks/gitlab-sink.js';
export { createMarkdownSink } from './sinks/markdown-sink.js';
export type { Delivery, Sink } from './sinks/sink.js';
export { SINK_ERROR_CODES, SinkError } from './sinks/sink-error.js';
export type { SinkErrorCode } from './sinks/sink-error.js';
export { isSignedWebhook, signWebhook } from './sinks/webhook-signature.js';
export { createWebhookSink } from './sinks/webhook-sink.js';
export type { WebhookOptions } from './sinks/webhook-sink.js';
