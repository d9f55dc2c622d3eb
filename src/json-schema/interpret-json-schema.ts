import type { AlignableSchema } from '../json/index.js';
import { compileSchema } from './interpreter/compile-schema.js';
import type { GivenOrInferred, Inferred } from './infer-json-schema.js';
import type { JsonSchema } from './json-schema.js';
import { createSafePatternCompiler } from './patterns/pattern.js';
import { UNTRUSTED_BOUNDS } from './read-schema.js';
import { readDocument } from './schema-references.js';
import { UNTRUSTED_STEPS, createValidator, toAlignableSchema } from './alignable-schema.js';

/** Options of {@link interpretJsonSchema}. */
export interface InterpretOptions {
  /** Steps for all validations together; negative once a validation was stopped. Alignment has a separate bound. */
  readonly allowance?: { steps: number };
}

/**
 * `fromJsonSchema` without generated code: for pages whose policy forbids `eval`, and for untrusted schemas. Bounded in
 * size, depth, steps and pattern cost; a bundle that uses only this function does not contain Ajv.
 *
 * @example
 * const schema = interpretJsonSchema(await request.json())
 * parse(text, schema)
 */
export function interpretJsonSchema<T = Inferred, const Schema extends JsonSchema = JsonSchema>(
  schema: Schema,
  { allowance }: InterpretOptions = {},
): AlignableSchema<GivenOrInferred<T, Schema>> {
  const document = readDocument(schema, UNTRUSTED_BOUNDS);
  const compilePattern = createSafePatternCompiler();
  const checks = compileSchema(document, compilePattern);
  const validate = createValidator(checks(document.root.node), UNTRUSTED_STEPS, allowance);
  return toAlignableSchema<GivenOrInferred<T, Schema>>({ document, compilePattern }, checks, validate, UNTRUSTED_STEPS);
}
