import type { AlignableSchema, StandardSchema } from '../json/index.js';
import { SluiceError, errorMessageOf } from '../base/index.js';
import { exportJsonSchema } from './export-json-schema.js';
import { compileSchema } from './interpreter/compile-schema.js';
import { compileNativePattern } from './patterns/pattern.js';
import { readSchema, TRUSTED_BOUNDS } from './read-schema.js';
import { indexSchema } from './schema-references.js';
import { TRUSTED_ALIGNMENT_STEPS, createAlignment } from './alignable-schema.js';

/** The input type of a Standard Schema. */
type InputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['input'];
/** The output type of a Standard Schema. */
type OutputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];

/**
 * Makes a schema of zod, arktype, valibot or any library with a JSON Schema export able to align. Values are aligned
 * to that export; the schema itself validates the result, so its own refinements, transforms and defaults stay its own.
 *
 * @example
 * const schema = alignable(z.object({ price: z.number(), mood: z.enum(['bullish', 'bearish']) }))
 * parse('{"price": "$12", "Mood": "Bullish"}', schema, { align: true })
 */
export function alignable<Schema extends StandardSchema>(
  schema: Schema,
): AlignableSchema<InputOf<Schema>, OutputOf<Schema>> {
  const document = indexSchema(readSchema(exportOrExplain(schema), '#', TRUSTED_BOUNDS), TRUSTED_BOUNDS);
  const checks = compileSchema(document, compileNativePattern);
  return {
    '~standard': schema['~standard'],
    '~sluice': createAlignment({ document, compilePattern: compileNativePattern }, checks, TRUSTED_ALIGNMENT_STEPS),
  };
}

function exportOrExplain(schema: StandardSchema): unknown {
  try {
    return exportJsonSchema(schema);
  } catch (cause) {
    if (cause instanceof SluiceError) throw cause;
    const reason = errorMessageOf(cause);
    throw new SluiceError(
      'ALIGN_UNSUPPORTED',
      `this schema cannot be written as JSON Schema: ${reason}; write one and use fromJsonSchema`,
      { cause },
    );
  }
}
