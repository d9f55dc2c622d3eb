/*
 * Functions that read fields of untrusted records. A field that is missing or has the wrong type is null.
 */

/**
 * Returns the value of a key. Records come from `JSON.parse`, where even `__proto__` is an ordinary key. Do not pass the name of
 * a member of `Object.prototype`, which is inherited.
 */
export function getField(record: object, key: string): unknown {
  return (record as Readonly<Record<string, unknown>>)[key];
}

/** @example getString({ id: 'a' }, 'id') // 'a' */
export function getString(record: object, key: string): string | null {
  const value = getField(record, key);
  return typeof value === 'string' ? value : null;
}

/** Returns a string; an empty string counts as missing. */
export function getName(record: object, key: string): string | null {
  const value = getField(record, key);
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Returns a finite number: `JSON.parse` reads `1e999` as infinity, which JSON cannot represent. */
export function getNumber(record: object, key: string): number | null {
  const value = getField(record, key);
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Returns an integer. */
export function getInteger(record: object, key: string): number | null {
  const value = getField(record, key);
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
}

/** Returns an integer that is not negative. */
export function getCount(record: object, key: string): number | null {
  const value = getField(record, key);
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

export function getBoolean(record: object, key: string): boolean | null {
  const value = getField(record, key);
  return typeof value === 'boolean' ? value : null;
}

/** Returns an object that is not an array. */
export function getObject(record: object, key: string): object | null {
  const value = getField(record, key);
  return isRecord(value) ? value : null;
}

/** Returns an array; empty if missing. */
export function getArray(record: object, key: string): readonly unknown[] {
  const value = getField(record, key);
  return Array.isArray(value) ? value : [];
}

/** Whether a value is an object other than an array. */
export function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns the fields that have a value. On the wire an unknown field is absent, never null.
 *
 * @example
 * omitMissing({ model: 'm', reason: null }) // { model: 'm' }
 */
export function omitMissing<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]?: Exclude<Fields[Key], null | undefined> } {
  const present: { [Key in keyof Fields]?: Exclude<Fields[Key], null | undefined> } = {};
  for (const key in fields) {
    const value = fields[key];
    if (value !== null && value !== undefined) present[key] = value as Exclude<Fields[typeof key], null | undefined>;
  }
  return present;
}

/**
 * The known fields of each record type. The table has no prototype, so a malicious type like `constructor` is unknown.
 */
export type FieldTable = Readonly<Record<string, ReadonlySet<string>>>;

/**
 * Creates a table of the known fields of each record type, including the common ones.
 *
 * @example
 * createFieldTable(['type'], { error: ['message'] })['error'] // Set { 'type', 'message' }
 */
export function createFieldTable(
  common: readonly string[],
  table: Readonly<Record<string, readonly string[]>>,
): FieldTable {
  const fields: Record<string, ReadonlySet<string>> = Object.create(null) as Record<string, ReadonlySet<string>>;
  for (const [type, specific] of Object.entries(table)) fields[type] = new Set([...common, ...specific]);
  return fields;
}
