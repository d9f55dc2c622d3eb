import { isJsonObject } from './json-schema.js';

/**
 * What Ajv 8.20 gets wrong, found by comparing verdicts on random schemas: keeping track of evaluated keys can throw,
 * `contains` with a reference to `true` accepts an empty list, a property named `__proto__` is not checked. Dynamic
 * references are read more simply here than there.
 */
const LEFT = new Set(['unevaluatedItems', 'unevaluatedProperties', 'contains', '$dynamicRef', '__proto__']);

/** Tells whether a schema uses something on which Ajv cannot be relied; also where a key only looks like it. */
export function isLeftToInterpreter(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(isLeftToInterpreter);
  if (!isJsonObject(schema)) return false;
  return Object.keys(schema).some((key) => LEFT.has(key) || isLeftToInterpreter(schema[key]));
}
