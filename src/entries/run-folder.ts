export { FileError, type FileErrorCode } from '../base/index.js';
export {
  RunFolderError,
  type RunFolderErrorCode,
  type RunFolderWarning,
  type AttemptMeta,
  openRunFolder,
  type RunFolder,
  type RunFile,
  translateRunFolder,
  type TranslateOptions,
  rewriteRunLogs,
  replayRunFolder,
  type LogDifference,
  type ReplayOptions,
  type ReplayResult,
  type ChangedStream,
  type StreamDigest,
} from '../runs/run-folder/index.js';
