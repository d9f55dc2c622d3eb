import { createSchemaError, isJsonObject, setOwnValue } from './json-schema.js';
import type { SchemaNode } from './json-schema.js';
import { KEYWORD_SHAPES, TYPE_NAMES } from './schema-keywords.js';
import type { DataShape, KeywordShape } from './schema-keywords.js';

/** The maximum size of a schema. */
export interface SchemaBounds {
  /** Maximum number of JSON values in the schema, including every keyword and nested schema. */
  readonly nodes: number;
  /** Maximum nesting depth of the schema itself. */
  readonly depth: number;
}

/** Bounds for the application's own schemas: they only catch cyclic objects. */
export const TRUSTED_BOUNDS: SchemaBounds = { nodes: 1_000_000, depth: 256 };

/** Bounds for untrusted schemas: the largest is compiled in about a second, usual ones in a millisecond. */
export const UNTRUSTED_BOUNDS: SchemaBounds = { nodes: 20_000, depth: 64 };

/**
 * Copies a schema, converted to draft 2020-12, and checks the shape of every keyword, so later code can rely on it. Throws
 * `INVALID_SCHEMA` with the location.
 */
export function readSchema(schema: unknown, location: string, bounds: SchemaBounds): SchemaNode {
  let nodes = 0;
  return readNode(schema, location, 0);

  function checkBounds(pointer: string, depth: number): void {
    nodes += 1;
    if (nodes > bounds.nodes)
      throw createSchemaError(pointer, `more than ${bounds.nodes} values; use a smaller schema`);
    if (depth > bounds.depth) throw createSchemaError('#', `nested deeper than ${bounds.depth}; move parts to $defs`);
  }

  function readNode(node: unknown, pointer: string, depth: number): SchemaNode {
    checkBounds(pointer, depth);
    if (typeof node === 'boolean') return node;
    if (!isJsonObject(node))
      throw createSchemaError(pointer, `a schema is an object or a boolean, not ${describeValue(node)}`);
    const read: Record<string, unknown> = {};
    for (const [keyword, value] of modernizeSchema(node)) {
      const inner = `${pointer}/${escapePointer(keyword)}`;
      setOwnValue(read, keyword, readKeyword(KEYWORD_SHAPES.get(keyword) ?? 'anything', value, inner, depth + 1));
    }
    return read;
  }

  function readKeyword(shape: KeywordShape, value: unknown, pointer: string, depth: number): unknown {
    if (shape === 'schema') return readNode(value, pointer, depth);
    if (shape === 'schemaMap') return readMap(value, pointer, depth, readNode);
    if (shape === 'stringsMap')
      return readMap(value, pointer, depth, (item, inner) => readKeyword('strings', item, inner, depth));
    if (shape !== 'schemas') {
      checkData(shape, value, pointer);
      return readData(value, pointer, depth);
    }
    if (!Array.isArray(value) || value.length === 0)
      throw createSchemaError(pointer, 'expected a list of at least one schema');
    return value.map((item, index) => readNode(item, `${pointer}/${index}`, depth));
  }

  function readData(value: unknown, pointer: string, depth: number): unknown {
    checkBounds(pointer, depth);
    if (Array.isArray(value)) return value.map((item, index) => readData(item, `${pointer}/${index}`, depth + 1));
    if (isJsonObject(value)) return readMap(value, pointer, depth + 1, readData);
    return value;
  }
}

/** The fields that contain the schema in the envelopes of model and tool APIs. */
const ENVELOPE_FIELDS = ['schema', 'json_schema', 'function', 'parameters', 'input_schema', 'inputSchema'];
/** `{ type: 'json_schema', json_schema: { name, schema } }` has two. */
const MAX_ENVELOPE_DEPTH = 4;
const ENVELOPE_TYPES: ReadonlySet<unknown> = new Set(['json_schema', 'function', 'custom']);
/** Keywords that do not restrict values: a schema with only these intentionally allows anything. */
const ANNOTATION =
  /^(?:[$x]|title$|description$|default$|examples?$|deprecated$|readOnly$|writeOnly$|content|nullable$|additionalItems$|dependencies$|id$)/;

/**
 * Unwraps a schema from its envelope: `{ name, strict, schema }`, `{ type: 'json_schema', json_schema }`, `{ name,
 * parameters }`, `{ name, input_schema }`. Read as a schema, an envelope has no keyword and would accept anything. So
 * would any other object without a keyword, so it is rejected.
 */
export function openEnvelope(schema: unknown): unknown {
  let inner = schema;
  for (let level = 0; level < MAX_ENVELOPE_DEPTH && isJsonObject(inner); level += 1) {
    const envelope = inner;
    const keys = Object.keys(envelope).filter((key) => !(key === 'type' && ENVELOPE_TYPES.has(envelope[key])));
    if (keys.length === 0 || keys.some((key) => KEYWORD_SHAPES.has(key))) return envelope;
    const content = ENVELOPE_FIELDS.find((key) => isJsonObject(envelope[key]));
    if (content === undefined) {
      if (keys.some((key) => ANNOTATION.test(key))) return envelope;
      const listed = keys.slice(0, 5).map((key) => describeValue(key));
      throw createSchemaError(
        '#',
        `${listed.join(', ')}: not a JSON Schema keyword; describe properties under "properties"`,
      );
    }
    inner = envelope[content];
  }
  return inner;
}

function readMap(
  value: unknown,
  pointer: string,
  depth: number,
  read: (item: unknown, pointer: string, depth: number) => unknown,
): Record<string, unknown> {
  if (!isJsonObject(value)) throw createSchemaError(pointer, `expected an object, not ${describeValue(value)}`);
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    setOwnValue(copy, key, read(value[key], `${pointer}/${escapePointer(key)}`, depth));
  }
  return copy;
}

/** The requirements for plain data, by its shape. */
const DATA: Readonly<Record<DataShape, readonly [expected: string, isValid: (value: unknown) => boolean]>> = {
  string: ['a string', (value) => typeof value === 'string'],
  boolean: ['true or false', (value) => typeof value === 'boolean'],
  number: ['a number', Number.isFinite],
  positive: ['a number above 0', (value) => Number.isFinite(value) && Number(value) > 0],
  count: ['a whole number of at least 0', (value) => Number.isInteger(value) && Number(value) >= 0],
  values: ['a list of at least one value', (value) => Array.isArray(value) && value.length > 0],
  strings: [
    'a list of property names',
    (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  ],
  types: ['at least one type', (value) => !Array.isArray(value) || value.length > 0],
  anything: ['', () => true],
};

function checkData(shape: DataShape, value: unknown, pointer: string): void {
  const [expected, isValid] = DATA[shape];
  if (!isValid(value)) throw createSchemaError(pointer, `expected ${expected}, not ${describeValue(value)}`);
  if (shape !== 'types') return;
  const unknown = [value].flat().find((name) => !TYPE_NAMES.includes(String(name)));
  if (unknown !== undefined)
    throw createSchemaError(pointer, `${describeValue(unknown)} is not a type; use one of ${TYPE_NAMES.join(', ')}`);
}

function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : `a value of type ${typeof value}`;
}

/** Escapes one step of a JSON pointer (RFC 6901). */
export function escapePointer(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Keywords that do not restrict values but would change the behaviour of a compiler. */
const DROPPED_KEYWORDS = new Set(['$schema', '$async', '$comment', '$vocabulary', 'id']);

/**
 * Converts one schema object to draft 2020-12. Libraries and users still write draft 7 and OpenAPI 3.0: `items` as a
 * list, `dependencies`, `exclusiveMinimum: true`, `nullable`.
 */
function modernizeSchema(schema: Readonly<Record<string, unknown>>): Map<string, unknown> {
  const keywords = new Map<string, unknown>();
  for (const key of Object.keys(schema)) {
    if (!DROPPED_KEYWORDS.has(key) && schema[key] !== undefined) keywords.set(key, schema[key]);
  }
  const items = keywords.get('items');
  if (Array.isArray(items)) {
    keywords.delete('items');
    if (items.length > 0) keywords.set('prefixItems', items);
    if (keywords.has('additionalItems')) keywords.set('items', keywords.get('additionalItems'));
  }
  if (isJsonObject(keywords.get('dependencies'))) splitDependencies(keywords);
  convertBooleanBound(keywords, 'minimum', 'exclusiveMinimum');
  convertBooleanBound(keywords, 'maximum', 'exclusiveMaximum');
  convertNullable(keywords);
  return keywords;
}

/** Converts `nullable`, which OpenAPI defines only in combination with `type`. */
function convertNullable(keywords: Map<string, unknown>): void {
  const type = keywords.get('type');
  if (keywords.get('nullable') === true && type !== undefined) {
    const types: readonly unknown[] = Array.isArray(type) ? type : [type];
    if (!types.includes('null')) keywords.set('type', [...types, 'null']);
  }
  keywords.delete('nullable');
}

function splitDependencies(keywords: Map<string, unknown>): void {
  const dependencies = keywords.get('dependencies');
  if (!isJsonObject(dependencies)) return;
  const entries = Object.entries(dependencies);
  const required = entries.filter(([, value]) => Array.isArray(value));
  const schemas = entries.filter(([, value]) => !Array.isArray(value));
  keywords.delete('dependencies');
  if (required.length > 0) keywords.set('dependentRequired', Object.fromEntries(required));
  if (schemas.length > 0) keywords.set('dependentSchemas', Object.fromEntries(schemas));
}

function convertBooleanBound(keywords: Map<string, unknown>, bound: string, exclusive: string): void {
  const flag = keywords.get(exclusive);
  if (typeof flag !== 'boolean') return;
  keywords.delete(exclusive);
  const limit = keywords.get(bound);
  if (!flag || limit === undefined) return;
  keywords.delete(bound);
  keywords.set(exclusive, limit);
}
