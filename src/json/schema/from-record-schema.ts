import type { StandardResult, StandardSchema } from '../index.js';
import { createValidator, type SchemaValidator } from './alignable-schema.js';
import { compileSchema } from './interpreter/compile-schema.js';
import type { JsonSchema } from './json-schema.js';
import { compileNativePattern } from './patterns/pattern.js';
import { TRUSTED_BOUNDS } from './read-schema.js';
import { readDocument } from './schema-references.js';

/**
 * Creates a validator from a record's schema. The schema is read on the first check: most processes check only a
 * few kinds of records.
 *
 * @example
 * const requestSchema = fromRecordSchema<WorkRequest>(WORK_REQUEST_SCHEMA)
 */
export function fromRecordSchema<T>(schema: JsonSchema): StandardSchema<unknown, T> {
  let validate: SchemaValidator | undefined;
  return {
    '~standard': {
      version: 1,
      vendor: 'sluice',
      validate: (value) => (validate ??= compileValidator(schema))(value) as StandardResult<T>,
    },
  };
}

function compileValidator(schema: JsonSchema): SchemaValidator {
  const document = readDocument(schema, TRUSTED_BOUNDS);
  const checks = compileSchema(document, compileNativePattern);
  return createValidator(checks(document.root.node), Infinity);
}
