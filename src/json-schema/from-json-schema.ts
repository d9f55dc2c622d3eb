import type { AlignableSchema } from '../json/index.js';
import { compileWithAjv, needsInterpreter } from './compile-with-ajv.js';
import type { PassFunction } from './compile-with-ajv.js';
import { compileSchema } from './interpreter/compile-schema.js';
import { interpretJsonSchema } from './interpret-json-schema.js';
import type { GivenOrInferred, Inferred } from './infer-json-schema.js';
import type { JsonSchema } from './json-schema.js';
import { compileNativePattern } from './patterns/pattern.js';
import { TRUSTED_BOUNDS } from './read-schema.js';
import { readDocument } from './schema-references.js';
import { TRUSTED_ALIGNMENT_STEPS, UNEXPLAINED, createValidator, toAlignableSchema } from './alignable-schema.js';
import type { SchemaValidator } from './alignable-schema.js';

/** Options of {@link fromJsonSchema}. */
export interface FromJsonSchemaOptions {
  /** False for an untrusted schema: no code is generated from it, and its cost is bounded. Default true. */
  readonly trusted?: boolean;
}

/**
 * Turns a JSON Schema (draft 2020-12) into a schema for `parse` that can align. The value is returned unchanged: no
 * defaults, no coercion. Throws `INVALID_SCHEMA`, with the location, for an unusable schema.
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
  { trusted = true }: FromJsonSchemaOptions = {},
): AlignableSchema<GivenOrInferred<T, Schema>> {
  if (!trusted) return interpretJsonSchema<T, Schema>(schema);
  const document = readDocument(schema, TRUSTED_BOUNDS);
  const checks = compileSchema(document, compileNativePattern);
  const passes = needsInterpreter(document.root.node) ? undefined : compileWithAjv(document.root.node);
  const explain = createValidator(checks(document.root.node), Infinity);
  const validate = passes === undefined ? explain : createAjvValidator(passes, explain);
  return toAlignableSchema<GivenOrInferred<T, Schema>>(
    { document, compilePattern: compileNativePattern },
    checks,
    validate,
    TRUSTED_ALIGNMENT_STEPS,
  );
}

/**
 * Ajv determines whether a value passes; the interpreter finds the issues of values that fail, worded the same as
 * without Ajv.
 */
function createAjvValidator(passes: PassFunction, explain: SchemaValidator): SchemaValidator {
  return (value) => {
    try {
      if (passes(value)) return { value };
    } catch {
      // The value is too deep for Ajv, or Ajv's object comparison throws on it (`{ "valueOf": 1 }`).
      return explain(value);
    }
    const result = explain(value);
    return result.issues === undefined ? { issues: [UNEXPLAINED] } : result;
  };
}
