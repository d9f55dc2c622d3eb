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
  keysOf,
  confidence,
} from './schema-type.js';
export { errorCodeOf } from './error-code.js';
export { silentLogger, type Logger } from './logger.js';
export { errorMessageOf } from './error-message.js';
export { pictureOf, UNSEEN_CHARACTERS } from './unseen-characters.js';
export { omitUndefined } from './omit-undefined.js';
export { SluiceError, isSluiceError } from './sluice-error.js';
export { createUlids } from './ulid.js';
export { firstIndexThat } from './first-index.js';
export { createJsonLogger } from './json-logger.js';
export { FileError, type FileErrorCode } from './file-error.js';
