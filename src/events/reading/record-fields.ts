/*
 * Reading fields of records whose shape is not to be trusted. A field that is missing or of another type is null.
 */

/**
 * The value under a key. Records come from `JSON.parse`, where even `__proto__` is an ordinary key, so only the names
 * of `Object.prototype` are inherited: never ask for one of those.
 */
export function field(record: object, key: string): unknown {
  return (record as Readonly<Record<string, unknown>>)[key];
}

/** @example stringField({ id: 'a' }, 'id') // 'a' */
export function stringField(record: object, key: string): string | null {
  const value = field(record, key);
  return typeof value === 'string' ? value : null;
}

/** A string that names something: empty counts as missing. */
export function nameField(record: object, key: string): string | null {
  const value = field(record, key);
  return typeof value === 'string' && value !== '' ? value : null;
}

/** A number that JSON can write again: it reads `1e999` as infinity, which it cannot. */
export function numberField(record: object, key: string): number | null {
  const value = field(record, key);
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** A whole number, as programs exit with. */
export function integerField(record: object, key: string): number | null {
  const value = field(record, key);
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
}

/** A whole number that is not negative, as tokens are counted. */
export function countField(record: object, key: string): number | null {
  const value = field(record, key);
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

export function booleanField(record: object, key: string): boolean | null {
  const value = field(record, key);
  return typeof value === 'boolean' ? value : null;
}

/** An object that is no array. */
export function objectField(record: object, key: string): object | null {
  const value = field(record, key);
  return isRecord(value) ? value : null;
}

/** A missing array is empty: what is in it is `unknown` all the same. */
export function arrayField(record: object, key: string): readonly unknown[] {
  const value = field(record, key);
  return Array.isArray(value) ? value : [];
}

/** Whether a value is an object that is no array. */
export function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
