/*
 * Reading fields of records whose shape is not to be trusted. A field that is missing or of another type is null.
 */

/**
 * The value under a key. Records come from `JSON.parse`, where even `__proto__` is an ordinary key, so only the names
 * of `Object.prototype` are inherited: never ask for one of those.
 */
export function getField(record: object, key: string): unknown {
  return (record as Readonly<Record<string, unknown>>)[key];
}

/** @example getString({ id: 'a' }, 'id') // 'a' */
export function getString(record: object, key: string): string | null {
  const value = getField(record, key);
  return typeof value === 'string' ? value : null;
}

/** A string that names something: empty counts as missing. */
export function getName(record: object, key: string): string | null {
  const value = getField(record, key);
  return typeof value === 'string' && value !== '' ? value : null;
}

/** A number that JSON can write again: it reads `1e999` as infinity, which it cannot. */
export function getNumber(record: object, key: string): number | null {
  const value = getField(record, key);
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** A whole number, as programs exit with. */
export function getInteger(record: object, key: string): number | null {
  const value = getField(record, key);
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
}

/** A whole number that is not negative, as tokens are counted. */
export function getCount(record: object, key: string): number | null {
  const value = getField(record, key);
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

export function getBoolean(record: object, key: string): boolean | null {
  const value = getField(record, key);
  return typeof value === 'boolean' ? value : null;
}

/** An object that is not an array. */
export function getObject(record: object, key: string): object | null {
  const value = getField(record, key);
  return isRecord(value) ? value : null;
}

/** A missing array is empty; its items are `unknown`. */
export function getArray(record: object, key: string): readonly unknown[] {
  const value = getField(record, key);
  return Array.isArray(value) ? value : [];
}

/** Whether a value is an object and not an array. */
export function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The fields that have a value. On the wire a field that is not known is absent, never null.
 *
 * @example
 * omitMissing({ model: 'm', reason: null }) // { model: 'm' }
 */
export function omitMissing<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]?: Exclude<Fields[Key], null | undefined> } {
  const kept: { [Key in keyof Fields]?: Exclude<Fields[Key], null | undefined> } = {};
  for (const key in fields) {
    const value = fields[key];
    if (value !== null && value !== undefined) kept[key] = value as Exclude<Fields[typeof key], null | undefined>;
  }
  return kept;
}

/** The fields each type of record may have; a hostile type like `constructor` finds nothing. */
export type FieldTable = Readonly<Record<string, ReadonlySet<string>>>;

/**
 * Makes a table of the fields each type of record may have, besides those that all have.
 *
 * @example
 * createFieldTable(['type'], { error: ['message'] })['error'] // Set { 'type', 'message' }
 */
export function createFieldTable(
  common: readonly string[],
  table: Readonly<Record<string, readonly string[]>>,
): FieldTable {
  const fields: Record<string, ReadonlySet<string>> = Object.create(null) as Record<string, ReadonlySet<string>>;
  for (const [type, own] of Object.entries(table)) fields[type] = new Set([...common, ...own]);
  return fields;
}
