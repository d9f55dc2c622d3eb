export {
  type FromSchema,
  type Schema,
  anything,
  name,
  object,
  oneOf,
  orNull,
  arrayOf,
  text,
  count,
  type ObjectSchema,
  flag,
  timestamp,
  ordinal,
  listKeys,
  confidence,
} from './schema-type.js';
export {
  getErrorCode,
  getErrorMessage,
  SluiceError,
  copyAsJson,
  isSluiceError,
  writeBigint,
  FileError,
  type FileErrorCode,
} from './sluice-error.js';
export { silentLogger, type Logger, createJsonLogger } from './logger.js';
export { formatInvisible, INVISIBLE_CHARACTERS, cutText, escapeMarkup, truncate } from './text.js';
export {
  countChanges,
  diffLines,
  readCommand,
  readFileChanges,
  type DiffLine,
  type FileChange,
} from './file-changes.js';
export { align, omitUndefined, findFirstIndex, groupBy, setLatest } from './collections.js';
export { startOfStep } from './steps.js';
export { createUlidGenerator } from './ulid.js';
export { matchGlob, matchPathGlob, findNearestName } from './text.js';
export type { AppendableFile, OpenFile, ReadableFile, TrustedRoot } from './sluice-error.js';
