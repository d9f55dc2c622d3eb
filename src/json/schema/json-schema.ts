import { SluiceError } from '../../base/index.js';

/** A JSON Schema, draft 2020-12, as plain data: an object of keywords, or `true` (anything) or `false` (nothing). */
export type JsonSchema = boolean | object;

/** A JSON Schema that is an object: keyword → value. */
export type SchemaObject = Readonly<Record<string, unknown>>;

/** A JSON Schema after `readSchema` has checked it. */
export type SchemaNode = boolean | SchemaObject;

/** Whether a value is a JSON object: not an array, null or a scalar. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value of an own key; never an inherited one such as `constructor`. */
export function getOwnValue(object: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets an own property, also for the key `__proto__`. */
export function setOwnValue(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[key] = value;
  }
}

/** Creates the error for an unusable schema; `location` is a JSON pointer into it. */
export function createSchemaError(location: string, problem: string, cause?: unknown): SluiceError<'INVALID_SCHEMA'> {
  return new SluiceError('INVALID_SCHEMA', `Invalid JSON Schema at ${location}: ${problem}`, { cause });
}
