export { decide, type DecisionInput } from './decide/decide.js';
export { decideFromResolution } from './decide/decide-from-resolution.js';
export { createExecution, createItem, getParseStatus, READER_VERSION, type Execution } from './execution.js';
export { ORDERS_ERROR_CODES, OrdersError, type OrdersErrorCode } from './orders-error.js';
export { readWorkOrder, readWorkRequest } from './shapes/read-work-request.js';
export { dropFullStop } from './plain-text.js';
export { renderComment, formatTrigger, type CommentContent } from './comment/render-comment.js';
export { getIssueState, getResolvedState } from './comment/issue-state.js';
export { checkCommit, type CommitCheck } from './evidence/check-commit.js';
export { CHECK_SCHEMA, choosePolicy, findChecks, readChecks } from './proof/checks.js';
export type { Check, Checks, EvidencePolicy, NamedCheck } from './proof/checks.js';
export { chooseIsolation } from './proof/choose-isolation.js';
export { leavesRepository, listLinks, listSubmodules, parseChanges, type FileChange } from './proof/changes.js';
export { gatherEvidence } from './proof/judge-result.js';
export { judgeCommit, type CommitFacts, type OrderChange } from './proof/judge-commit.js';
export { didPass, judgeCheck, isInconclusive } from './proof/judge-checks.js';
export { listRewritten } from './proof/rewritten-checks.js';
export type { CheckOutcome, CheckTry } from './proof/judge-checks.js';
export { findMissingEvidence } from './evidence/missing-evidence.js';
export { readResultValue } from './reading/read-result-value.js';
export { parsePatch, type ListedFile } from './review/parse-patch.js';
export { readWorkResult, type RejectedAnswer, type ResultSource } from './reading/read-work-result.js';
export { readWrappers, findWrapper, type Wrappers } from './wrappers/wrappers.js';
export { WRAPPER_ENGINES, findAgentEngine } from './wrappers/wrappers.js';
export { type Wrapper, WRAPPER_SCHEMA } from './wrappers/wrappers.js';
export type {
  DecidedOrder,
  ExecutionFilter,
  ItemResolution,
  Listed,
  OrderSettlement,
  OrderStore,
  StoreClock,
  OrderSubmission,
  Page,
  RaceConclusion,
  RaceEntry,
  ResolveOutcome,
  Rival,
} from './ports/order-store.js';
export type { OutboxStore } from './ports/outbox-store.js';
export { createLead, type Lead } from './lead/create-lead.js';
export type { Backoff } from './lead/deliver.js';
export type { DeliveryReport } from './lead/deliver.js';
export { type LeadOptions } from './lead/lead-context.js';
export { LEAD_ERROR_CODES, LeadError, type LeadErrorCode } from './lead/lead-error.js';
export type { ResolveResult, ResolveRequest } from './lead/resolve.js';
export type { OrderName, Settlement, WorkerEnd } from './lead/settle.js';
export type { SubmitOptions, SubmittedOrder } from './lead/submit.js';
export type { ForgeOptions } from './sinks/find-comment.js';
export { createGitHubSink } from './sinks/github-sink.js';
export { createGitLabSink } from './sinks/gitlab-sink.js';
export { createMarkdownSink } from './sinks/markdown-sink.js';
export type { Delivery, OutgoingMessage, PullRequest, Sink } from './sinks/sink.js';
export { judgePullRequest, type PullRequestFinding } from './proof/pull-request.js';
export { SINK_ERROR_CODES, SinkError, type SinkErrorCode } from './sinks/sink.js';
export { isSignedWebhook, signWebhook } from './sinks/webhook-sink.js';
export { createSignedPost, createWebhookSink, type SignedPost, type WebhookOptions } from './sinks/webhook-sink.js';
export { GIT_FILTERS_SCHEMA, adaptGitFilters, readGitFilters } from './evidence/git-filters.js';
export { describeGitFailure, runGit, type GitResult, type GitFilters, type GitOptions } from './evidence/run-git.js';
export { RESULT_FILES } from './reading/result-file.js';
export { STREAM_BYTES } from './reading/read-work-result.js';
export { findRepo, getRepositoryFolder, readRepos, REPO_SCHEMA } from './repos/repos.js';
export type { Repo } from './repos/repos.js';
