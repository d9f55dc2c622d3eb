import type { Usage } from '../protocol/event-parts.js';

/**
 * Reads fields of untrusted records. A field that is missing or has the wrong type is null, as is every field of a
 * record that is null. Records come from `JSON.parse`, where even `__proto__` is an ordinary key. Do not pass the name
 * of a member of `Object.prototype`, which is inherited.
 */
export const get = {
  field(record: object | null, key: string): unknown {
    return record === null ? undefined : (record as Readonly<Record<string, unknown>>)[key];
  },
  string(record: object | null, key: string): string | null {
    const value = get.field(record, key);
    return typeof value === 'string' ? value : null;
  },
  /** A string; an empty one counts as missing. */
  name(record: object | null, key: string): string | null {
    const value = get.field(record, key);
    return typeof value === 'string' && value !== '' ? value : null;
  },
  /** A finite number: `JSON.parse` reads `1e999` as infinity, which JSON cannot represent. */
  number(record: object | null, key: string): number | null {
    const value = get.field(record, key);
    return typeof value === 'number' && Number.isFinite(value) ? value : null;
  },
  integer(record: object | null, key: string): number | null {
    const value = get.field(record, key);
    return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
  },
  /** An integer that is not negative. */
  count(record: object | null, key: string): number | null {
    const value = get.integer(record, key);
    return value !== null && value >= 0 ? value : null;
  },
  boolean(record: object | null, key: string): boolean | null {
    const value = get.field(record, key);
    return typeof value === 'boolean' ? value : null;
  },
  /** An object that is not an array. */
  object(record: object | null, key: string): object | null {
    const value = get.field(record, key);
    return isRecord(value) ? value : null;
  },
  /** An array; empty if missing. */
  array(record: object | null, key: string): readonly unknown[] {
    const value = get.field(record, key);
    return Array.isArray(value) ? value : [];
  },
  /** The objects in an array. */
  records(record: object | null, key: string): readonly object[] {
    return get.array(record, key).filter(isRecord);
  },
};

/** Whether a value is an object other than an array. */
export function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Joins the text parts of a prompt or of an MCP result. */
export function joinTextContent(content: readonly unknown[]): string {
  const strings = content.filter(isRecord).map((part) => get.string(part, 'text'));
  return strings.filter((text) => text !== null).join('\n');
}

/** Returns the fields that have a value. On the wire an unknown field is absent, never null. */
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
 * Creates a usage from counts that can be missing. A negative cost and an empty model count as missing.
 *
 * @example
 * toUsage('turn', { input_tokens: 3, output_tokens: null, cost: -1 }) // { scope: 'turn', input_tokens: 3, output_tokens: 0 }
 */
export function toUsage(
  scope: Usage['scope'],
  { input_tokens, output_tokens, cost, model, ...counts }: UsageCounts,
): Usage {
  const [input, output] = [input_tokens ?? 0, output_tokens ?? 0];
  const rest = { ...counts, cost: (cost ?? 0) < 0 ? null : cost, model: model === '' ? null : model };
  return { scope, input_tokens: input, output_tokens: output, ...omitMissing(rest) };
}

type UsageCounts = { readonly [Key in Exclude<keyof Usage, 'scope'>]?: Usage[Key] | null | undefined };

/** Creates a set from words, as the tables of known fields write them. */
export function toNames(words: string): ReadonlySet<string> {
  return new Set(words.split(' '));
}

/** The known fields by shape: a type of record, or an object in one. */
export type KnownFields = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Creates the lookup of known fields from tables with the fields of each shape.
 *
 * @example
 * toKnownFields({ error: 'message type' }).get('error') // Set { 'message', 'type' }
 */
export function toKnownFields(...tables: readonly Readonly<Record<string, string>>[]): KnownFields {
  const shapes = tables.flatMap((table) => Object.entries(table));
  return new Map(shapes.map(([shape, fields]) => [shape, toNames(fields)]));
}
