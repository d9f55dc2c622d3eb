import { getErrorMessage } from '../base/index.js';
import { FORMATS } from './formats.js';
import { createSchemaError, isJsonObject } from './json-schema.js';
import type { SchemaNode } from './json-schema.js';
import { hasUniqueItems, isMultipleOf } from './json-values.js';
import { toRegExp } from './patterns/pattern.js';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** Returns whether a value passes. The interpreter finds the issues of the few values that fail. */
export type PassFunction = (value: unknown) => boolean;

/** Set when the first attempt was refused, so a page's content security policy is violated, and reported, only once. */
let isForbidden = false;

/**
 * Compiles a checked schema to a generated function; undefined if the page or process forbids generating code. One Ajv
 * instance per schema, so equal `$id`s do not conflict and nothing is retained after the schema is released.
 */
export function compileWithAjv(schema: SchemaNode): PassFunction | undefined {
  if (isForbidden) return undefined;
  const ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    meta: false,
    messages: false,
    logger: false,
    // The inherited `constructor` does not satisfy a required property of that name.
    ownProperties: true,
    formats: Object.fromEntries(FORMATS),
    code: { regExp: Object.assign((source: string) => toRegExp(source, '#'), { code: 'sluice' }) },
  });
  // Tracking evaluated properties makes Ajv throw on some schemas, so schemas that need it are interpreted.
  ajv.opts.unevaluated = false;
  // Ajv compares list items pairwise and divides doubles; these checks are linear, and exact for decimals.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: (isUnique: boolean, items: readonly unknown[]) => !isUnique || hasUniqueItems(items),
  });
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    validate: (divisor: number, value: number) => isMultipleOf(value, divisor),
  });
  try {
    return ajv.compile(schema);
  } catch (cause) {
    if (cause instanceof EvalError) {
      isForbidden = true;
      return undefined;
    }
    if (cause instanceof RangeError)
      throw createSchemaError('#', 'references are nested too deeply; shorten the chain of $ref', cause);
    throw createSchemaError('#', getErrorMessage(cause), cause);
  }
}

/**
 * Keywords that Ajv 8.20 handles incorrectly, found by comparing both validators on random schemas: tracking evaluated
 * keys can throw; `contains` with a reference to `true` accepts an empty list; a property named `__proto__` is not
 * checked. Dynamic references are included because the interpreter, unlike Ajv, follows them like plain ones.
 */
const NOT_FOR_AJV = new Set(['unevaluatedItems', 'unevaluatedProperties', 'contains', '$dynamicRef', '__proto__']);

/** Whether a schema uses a keyword that Ajv handles incorrectly; also true if a property has such a name. */
export function needsInterpreter(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(needsInterpreter);
  if (!isJsonObject(schema)) return false;
  return Object.keys(schema).some((key) => NOT_FOR_AJV.has(key) || needsInterpreter(schema[key]));
}
