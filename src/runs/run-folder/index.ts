export { RunFolderError, type RunFolderErrorCode, type RunFolderWarning } from './run-folder-error.js';
export { ARTIFACT_FOLDER, AUDIT_FOLDER, RUN_LOGS, getAttemptFileName, type AttemptFile } from './file-names.js';
export type { AttemptMeta } from './attempt/attempt-meta.js';
export {
  createRunFolder,
  openRunFolder,
  readPackedRun,
  readRunFiles,
  type RunFolder,
  type WritableRunFolder,
} from './open-run-folder.js';
export { openRun, getPackedRunName, getPackedRunPath, getRunFolderPath, PACKED_FOLDER } from './run-place.js';
export { copyRunFiles, withPlainFolder, listAuditFiles, type AuditFile, removeRunFolder } from './audit-files.js';
export type { RunFile } from './run-files.js';
export { packRunFolder, removePackedRun, TEMPORARY_FOLDER } from './packed/pack-run-folder.js';
export {
  openAttemptCapture,
  writeAttemptMeta,
  writeFsDiff,
  type AttemptCapture,
  type CapturedChunk,
  type StreamDigest,
} from './attempt/attempt-capture.js';
export { openRunLogs, type RunLogs } from './logs/run-logs.js';
export { translateRunFolder, type AttemptJudge, type TranslateOptions } from './translate-run-folder.js';
export { listFilesWithLogs, rewriteRunLogs } from './rewrite-run-logs.js';
export {
  findFirstDifference,
  replayRunFolder,
  type ChangedStream,
  type LogDifference,
  type ReplayOptions,
  type ReplayResult,
} from './replay-run-folder.js';
export { readLastAttempt } from './read-last-attempt.js';
export { openEventTail, readRunEvents } from './logs/read-events.js';
export { isArtifactPath, readFsDiff } from './attempt/read-fs-diff.js';
