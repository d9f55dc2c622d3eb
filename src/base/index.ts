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
export { getErrorCode } from './error-code.js';
export { silentLogger, type Logger } from './logger.js';
export { getErrorMessage } from './error-message.js';
export { formatInvisible, INVISIBLE_CHARACTERS } from './invisible-characters.js';
export { cutText, truncate } from './cut-text.js';
export { omitUndefined } from './omit-undefined.js';
export { SluiceError, copyAsJson, isSluiceError, writeBigint } from './sluice-error.js';
export { createUlidGenerator } from './ulid.js';
export { findFirstIndex } from './first-index.js';
export { createJsonLogger } from './json-logger.js';
export { FileError, type FileErrorCode } from './file-error.js';
export { matchGlob, matchPathGlob } from './match-glob.js';
export type { OpenFile, ReadableFile } from './readable-file.js';
export type { TrustedRoot } from './trusted-root.js';
