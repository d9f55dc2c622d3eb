import { SluiceError } from '../base/index.js';

/** A schema that cannot be used; the message says where, as a JSON pointer into the schema. */
export function invalidSchema(location: string, problem: string, cause?: unknown): SluiceError<'INVALID_SCHEMA'> {
  return new SluiceError('INVALID_SCHEMA', `Invalid JSON Schema at ${location}: ${problem}`, { cause });
}
