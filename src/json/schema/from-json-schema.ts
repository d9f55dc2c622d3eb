import type { AlignableSchema, StandardResult, StandardSchema } from '../index.js';
import { compileSchema } from './interpreter/compile-schema.js';
import type { GivenOrInferred, Inferred } from './infer-json-schema.js';
import type { JsonSchema } from './json-schema.js';
import { compileNativePattern, createSafePatternCompiler } from './patterns/pattern.js';
import { TRUSTED_BOUNDS, UNTRUSTED_BOUNDS } from './read-schema.js';
import { readDocument } from './schema-references.js';
import {
  TRUSTED_ALIGNMENT_STEPS,
  UNTRUSTED_STEPS,
  createValidator,
  toAlignableSchema,
  type SchemaValidator,
} from './alignable-schema.js';

/** Options of {@link fromJsonSchema}. */
export interface FromJsonSchemaOptions {
  /** False for an untrusted schema: its size, depth, steps and pattern cost are bounded. Default true. */
  readonly trusted?: boolean;
  /** Steps for all validations together; negative once a validation was stopped. Alignment has a separate bound. */
  readonly allowance?: { steps: number };
}

/**
 * Turns a JSON Schema (draft 2020-12) into a schema for `parse` that can align. The value is returned unchanged: no
 * defaults, no coercion. Throws `INVALID_SCHEMA`, with the location, for an unusable schema.
 * No code is generated, so it also works on pages that forbid `eval`.
 *
 * The value type is inferred if the compiler can see the schema (written inline, `as const`, or made with TypeBox);
 * otherwise pass it: `fromJsonSchema<Finding>(schema)`. The envelopes of OpenAI, Anthropic and MCP (`{ name, strict,
 * schema }`, `{ name, parameters }`, `{ name, input_schema }`, `{ name, inputSchema }`) are unwrapped.
 *
 * @example
 * const schema = fromJsonSchema({ type: 'object', properties: { line: { type: 'integer' } }, required: ['line'] })
 * const result = parse('{"line": 3}', schema)
 * if (result.ok) result.value.line // number
 */
export function fromJsonSchema<T = Inferred, const Schema extends JsonSchema = JsonSchema>(
  schema: Schema,
  { trusted = true, allowance }: FromJsonSchemaOptions = {},
): AlignableSchema<GivenOrInferred<T, Schema>> {
  const document = readDocument(schema, trusted ? TRUSTED_BOUNDS : UNTRUSTED_BOUNDS);
  const compilePattern = trusted ? compileNativePattern : createSafePatternCompiler();
  const checks = compileSchema(document, compilePattern);
  const validate = createValidator(checks(document.root.node), trusted ? Infinity : UNTRUSTED_STEPS, allowance);
  const alignmentSteps = trusted ? TRUSTED_ALIGNMENT_STEPS : UNTRUSTED_STEPS;
  return toAlignableSchema<GivenOrInferred<T, Schema>>({ document, compilePattern }, checks, validate, alignmentSteps);
}

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
