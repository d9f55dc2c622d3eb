export { RunFolderError, type RunFolderErrorCode, type RunFolderWarning } from './run-folder-error.js';
export {
  ARTIFACT_FOLDER,
  ATTEMPT_FILES,
  AUDIT_FOLDER,
  RUN_LOGS,
  getAttemptFileName,
  type AttemptFile,
} from './file-names.js';
export type { AttemptMeta } from './attempt/attempt-meta.js';
export { createRunFolder, openRunFolder, readPackedRun, readRunFiles } from './open-run-folder.js';
export type { RunFolder, WritableRunFolder } from './open-run-folder.js';
export {
  openRun,
  getIncomingPath,
  getPackedRunName,
  getPackedRunPath,
  getRunFolderPath,
  PACKED_FOLDER,
} from './run-place.js';
export { copyRunFiles, listAuditFiles, type AuditFile, removeRunFolder } from './audit-files.js';
export { readEnd, type RunFile } from './run-files.js';
export { packRunFolder, removePackedRun, TEMPORARY_FOLDER } from './packed/pack-run-folder.js';
export { openAttemptCapture, writeAttemptMeta, writeFsDiff } from './attempt/attempt-capture.js';
export type { AttemptCapture, CapturedChunk, StreamDigest } from './attempt/attempt-capture.js';
export { openRunLogs, type RunLogs } from './logs/run-logs.js';
export { translateRunFolder, type AttemptJudge, type TranslateOptions } from './translate-run-folder.js';
export { listFilesWithLogs, rewriteRunLogs, openEventTail, readRunEvents } from './logs/run-logs.js';
export { findFirstDifference, replayRunFolder } from './replay-run-folder.js';
export type { ChangedStream, LogDifference, ReplayOptions, ReplayResult } from './replay-run-folder.js';
export { readLastAttempt } from './audit-files.js';
export { isArtifactPath, isWorkPath, readFsDiff } from './attempt/attempt-capture.js';
