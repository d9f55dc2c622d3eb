import type { AlignableSchema } from '../json/alignable-schema.js';
import type { StandardResult } from '../json/standard-schema.js';
import type { SchemaChecks } from './interpreter/compile-schema.js';
import type { SchemaDocument } from './schema-references.js';
import type { SchemaValidator } from './schema-validator.js';

/** Joins a validator and the aligner of the same document into the schema that `parse` takes. */
export function toAlignableSchema<T>(
  _document: SchemaDocument,
  _checks: SchemaChecks,
  validate: SchemaValidator,
): AlignableSchema<T> {
  return {
    '~standard': {
      version: 1,
      vendor: 'sluice',
      // The caller names the type a JSON Schema describes; a schema given as data cannot.
      validate: validate as (value: unknown) => StandardResult<T>,
    },
    '~sluice': { align: (value) => ({ value, changes: [] }) },
  };
}
