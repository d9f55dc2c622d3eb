import { isSluiceError } from '../../../src/base/index.js';
import { parse } from '../../../src/json/index.js';
import type { AlignableSchema } from '../../../src/json/index.js';
import { interpretJsonSchema } from '../../../src/json-schema/index.js';
import type { SchemaProblem } from './inspection.js';
import { locatePath } from './locate-path.js';

/** A schema, none because the text is blank, or what is wrong with it. */
export type SchemaReading =
  | { readonly ok: true; readonly schema: AlignableSchema | undefined }
  | { readonly ok: false; readonly problem: SchemaProblem };

/**
 * Reads what a person wrote as a JSON Schema. A schema is a program: unlike an answer it is not repaired.
 *
 * @example
 * readSchemaText('{"type": "object"') // { ok: false, problem: { message: 'the text ends before …', offset: 17 } }
 */
export function readSchemaText(text: string): SchemaReading {
  if (text.trim() === '') return { ok: true, schema: undefined };
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch {
    return { ok: false, problem: syntaxProblem(text) };
  }
  if (typeof schema !== 'boolean' && (typeof schema !== 'object' || schema === null || Array.isArray(schema)))
    return { ok: false, problem: { message: 'A schema is an object, or true or false.', offset: null } };
  try {
    return { ok: true, schema: interpretJsonSchema(schema) };
  } catch (error) {
    if (isSluiceError(error)) return { ok: false, problem: unusable(text, error.message) };
    throw error;
  }
}

/** Our own reader says where: what `JSON.parse` says differs from browser to browser. */
function syntaxProblem(text: string): SchemaProblem {
  const result = parse(text, undefined, { profile: 'generic' });
  if (result.ok) return { message: 'Unexpected text before or after the schema.', offset: result.candidate.end };
  const [first] = result.status === 'failed' ? result.attempts : [];
  const message = first?.message ?? 'Invalid JSON.';
  const offset = /\(offset (\d+)\)\.?$/.exec(message)?.[1];
  return { message, offset: offset === undefined ? null : Number(offset) };
}

/** The message names the place as a JSON pointer. */
function unusable(text: string, message: string): SchemaProblem {
  const pointer = /at #(\/\S*):/.exec(message)?.[1];
  if (pointer === undefined) return { message, offset: null };
  const steps = pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return { message, offset: locatePath(text, 0, steps)?.start ?? null };
}
