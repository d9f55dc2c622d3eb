export { createTranslator, NO_TAIL, advanceTail, writeLateAnswer } from './translator.js';
export type { AttemptTail, PermissionAnswer, Translator } from './translator.js';
export type { AttemptEnd } from './end/attempt-end.js';
export { createAcpProjection, toAcp, toAcpPermission, type AcpPermission } from './projections/acp/acp.js';
export type { AcpSessionNotification, AcpUpdate } from './projections/acp/acp.js';
export { createAgUiProjection, toAgUi } from './projections/ag-ui/ag-ui.js';
export type { AgUiEvent } from './projections/ag-ui/ag-ui-event.js';
export type { Projection } from './projections/projection.js';
export {
  ERROR_CATEGORIES,
  REASON_CODES,
  VERDICTS,
  type CompletionState,
  type EndSignal,
  type ReasonCode,
  type Verdict,
} from './protocol/completion.js';
export { DIAGNOSTIC_CODES, type DiagnosticCode } from './protocol/diagnostic-codes.js';
export { driftSummarySchema, type DriftSummary, type DrainResult, type Emitted } from './protocol/translator-output.js';
export type { ByteRange, Coverage, StreamCoverage } from './protocol/translator-output.js';
export { checkEngine, defineEngine, type EngineRecording } from './engines/define-engine.js';
export type { Engine, ProcessExit, Reader, TranslatorOptions } from './engines/engine.js';
export type { Fact, PermissionOption } from './engines/fact.js';
export { ENGINE_NAMES, engineName, isEngineName, type EngineName, type ParserName } from './protocol/engine-names.js';
export {
  FCMP_TYPES,
  FCMP_VERSION,
  fcmpSchema,
  type FcmpData,
  type FcmpEvent,
  type FcmpType,
} from './protocol/fcmp-event.js';
export { fsDiffSchema, type FsDiff } from './end/artifacts.js';
export {
  RASP_TYPES,
  RASP_VERSION,
  isRasp,
  raspSchema,
  type RaspData,
  type RaspEvent,
  type RaspType,
} from './protocol/rasp-event.js';
export { RAW_STREAMS, STREAMS, type CapturedStream, type RawRef, type StreamName } from './protocol/event-parts.js';
export { placementCause, runFailureCause, usageSchema } from './protocol/event-parts.js';
export type { Correlation, FailureCause, PlacementCause, RunFailureCause, Usage } from './protocol/event-parts.js';
export { findCause } from './attempt/engine-error.js';
export { get, isRecord } from './reading/record-fields.js';
export { packEvents, unpackEvents, type EventPack } from './log/event-pack.js';
export { decodeLine, encodeLines } from './log/series.js';
export { comparePositions, LOG_END, getPosition, type LogPosition, LOG_START, readPosition } from './log/event-pack.js';
export { createRecordReader } from './engines/index.js';
export {
  readControlRequest,
  readControlResponse,
  readToolPermissionRequest as readToolQuestion,
  readWithdrawal,
} from './engines/stream-json/control.js';
export { isApproval } from './engines/codex/approval.js';
export { PERMISSION_METHOD, readPermissionRequest } from './engines/acp/acp-engine.js';
export { readRpcMessage, getResultFields, type RpcId, type RpcMessage } from './engines/json-rpc.js';
export { UsageTotals, sumUsage } from './attempt/usage-totals.js';
