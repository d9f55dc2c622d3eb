import { isSluiceError } from '../../../src/base/index.js';
import { parse } from '../../../src/json/index.js';
import type { AlignableSchema } from '../../../src/json/index.js';
import { interpretJsonSchema } from '../../../src/json-schema/index.js';
import type { SchemaProblem } from './inspection.js';
import { locatePath } from './locate-path.js';

/** The result of parsing a schema: the schema (undefined if blank), or a problem. */
export type SchemaReading =
  | { readonly ok: true; readonly schema: AlignableSchema | undefined }
  | { readonly ok: false; readonly problem: SchemaProblem };

/**
 * Parses a JSON Schema. Unlike an answer, it is not repaired.
 *
 * @example
 * readSchemaText('{"type": "object"') // { ok: false, problem: { message: 'The text is cut off (offset 17).', offset: 17 } }
 */
export function readSchemaText(text: string): SchemaReading {
  if (text.trim() === '') return { ok: true, schema: undefined };
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch {
    return { ok: false, problem: findSyntaxProblem(text) };
  }
  if (typeof schema !== 'boolean' && (typeof schema !== 'object' || schema === null || Array.isArray(schema)))
    return { ok: false, problem: { message: 'A schema must be an object, true or false.', offset: null } };
  try {
    return { ok: true, schema: interpretJsonSchema(schema) };
  } catch (error) {
    if (isSluiceError(error)) return { ok: false, problem: locateProblem(text, error.message) };
    throw error;
  }
}

/** Locates the error with our parser, because `JSON.parse` messages differ between browsers. */
function findSyntaxProblem(text: string): SchemaProblem {
  const result = parse(text, undefined, { profile: 'generic' });
  if (result.ok) {
    const { start, end } = result.candidate;
    const isBefore = text.slice(0, start).trim() !== '';
    return isBefore
      ? { message: 'Unexpected text before the schema.', offset: text.search(/\S/) }
      : { message: 'Unexpected text after the schema.', offset: end };
  }
  const [first] = result.status === 'failed' ? result.attempts : [];
  const message = first?.message ?? 'Invalid JSON.';
  const offset = /\(offset (\d+)\)\.?$/.exec(message)?.[1];
  return { message, offset: offset === undefined ? null : Number(offset) };
}

/** Locates an unsupported part of the schema by the JSON pointer in the message. */
function locateProblem(text: string, message: string): SchemaProblem {
  const pointer = /at #(\/\S*):/.exec(message)?.[1];
  if (pointer === undefined) return { message, offset: null };
  const steps = pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return { message, offset: locatePath(text, 0, steps)?.start ?? null };
}
