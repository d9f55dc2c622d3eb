import type { AlignableSchema, StandardSchema } from '../index.js';
import { SluiceError, getErrorMessage } from '../../base/index.js';
import { exportJsonSchema } from './export-json-schema.js';
import type { JsonSchema } from './json-schema.js';
import { compileSchema } from './interpreter/compile-schema.js';
import { compileNativePattern } from './patterns/pattern.js';
import { TRUSTED_BOUNDS } from './read-schema.js';
import { readDocument } from './schema-references.js';
import { TRUSTED_ALIGNMENT_STEPS, createLazyAlignment } from './alignable-schema.js';

/** The input type of a Standard Schema. */
type SchemaInput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['input'];
/** The output type of a Standard Schema. */
type SchemaOutput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];

/**
 * Adds alignment to a schema from another library: zod 3 and 4, zod mini, arktype, valibot and Effect through their
 * JSON Schema export, any other with its JSON Schema as the second argument. Values are aligned to the JSON Schema; the
 * schema itself validates the result, so its refinements, transforms and defaults apply.
 *
 * @example
 * const schema = alignable(z.object({ price: z.number(), mood: z.enum(['bullish', 'bearish']) }))
 * parse('{"price": "$12", "Mood": "Bullish"}', schema, { align: true })
 */
export function alignable<Schema extends StandardSchema>(
  schema: Schema,
  jsonSchema?: JsonSchema,
): AlignableSchema<SchemaInput<Schema>, SchemaOutput<Schema>> {
  const document = readDocument(jsonSchema ?? exportOrExplain(schema), TRUSTED_BOUNDS);
  const checks = compileSchema(document, compileNativePattern);
  return {
    '~standard': schema['~standard'],
    '~sluice': createLazyAlignment({ document, compilePattern: compileNativePattern }, checks, TRUSTED_ALIGNMENT_STEPS),
  };
}

function exportOrExplain(schema: StandardSchema): unknown {
  try {
    return exportJsonSchema(schema);
  } catch (cause) {
    if (cause instanceof SluiceError) throw cause;
    const reason = getErrorMessage(cause);
    throw new SluiceError(
      'ALIGN_UNSUPPORTED',
      `Cannot express this schema as JSON Schema: ${reason}. Pass its JSON Schema as the second argument of alignable.`,
      { cause },
    );
  }
}
