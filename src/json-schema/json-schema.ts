import { SluiceError } from '../base/index.js';

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

/** The value of a key the object itself has; never one that every object inherits, such as `constructor`. */
export function getOwnValue(object: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets a key as an ordinary own property, `__proto__` too. */
export function setOwnValue(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[key] = value;
  }
}

/** A schema that cannot be used; the message says where, as a JSON pointer into the schema. */
export function createSchemaError(location: string, problem: string, cause?: unknown): SluiceError<'INVALID_SCHEMA'> {
  return new SluiceError('INVALID_SCHEMA', `Invalid JSON Schema at ${location}: ${problem}`, { cause });
}
