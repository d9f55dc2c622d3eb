import { createSchemaError, isJsonObject, setOwnValue } from './json-schema.js';
import type { SchemaNode } from './json-schema.js';
import { KEYWORD_SHAPES, TYPE_NAMES } from './schema-keywords.js';
import type { DataShape, KeywordShape } from './schema-keywords.js';

/** How large a schema may be. */
export interface SchemaBounds {
  /** Most JSON values in the schema, counted with every keyword and nested schema. */
  readonly nodes: number;
  /** Deepest nesting of the schema itself. */
  readonly depth: number;
}

/** Bounds for schemas the program itself wrote: they only catch objects that contain themselves. */
export const TRUSTED_BOUNDS: SchemaBounds = { nodes: 1_000_000, depth: 256 };

/** Bounds for untrusted schemas: the largest is compiled in about a second, usual ones in a millisecond. */
export const UNTRUSTED_BOUNDS: SchemaBounds = { nodes: 20_000, depth: 64 };

/**
 * Copies a schema in the spelling of draft 2020-12 and checks the shape of every keyword, so that everything after this can rely
 * on it. Throws `INVALID_SCHEMA` with the place.
 */
export function readSchema(schema: unknown, location: string, bounds: SchemaBounds): SchemaNode {
  let nodes = 0;
  return readNode(schema, location, 0);

  function enter(place: string, depth: number): void {
    nodes += 1;
    if (nodes > bounds.nodes) throw createSchemaError(place, `more than ${bounds.nodes} values; use a smaller schema`);
    if (depth > bounds.depth) throw createSchemaError('#', `nested deeper than ${bounds.depth}; move parts to $defs`);
  }

  function readNode(node: unknown, place: string, depth: number): SchemaNode {
    enter(place, depth);
    if (typeof node === 'boolean') return node;
    if (!isJsonObject(node))
      throw createSchemaError(place, `a schema is an object or a boolean, not ${describe(node)}`);
    const read: Record<string, unknown> = {};
    for (const [keyword, value] of modernizeSchema(node)) {
      const shape = KEYWORD_SHAPES.get(keyword);
      const inner = `${place}/${escapePointer(keyword)}`;
      setOwnValue(
        read,
        keyword,
        shape === undefined ? readData(value, inner, depth + 1) : readKeyword(shape, value, inner, depth + 1),
      );
    }
    return read;
  }

  function readKeyword(shape: KeywordShape, value: unknown, place: string, depth: number): unknown {
    switch (shape) {
      case 'schema':
        return readNode(value, place, depth);
      case 'schemas':
        if (!Array.isArray(value) || value.length === 0)
          throw createSchemaError(place, 'expected a list of at least one schema');
        return value.map((item, index) => readNode(item, `${place}/${index}`, depth));
      case 'schemaMap':
        return readMap(value, place, depth, readNode);
      case 'stringsMap':
        return readMap(value, place, depth, (item, inner) => readKeyword('strings', item, inner, depth));
      case 'string':
      case 'boolean':
      case 'number':
      case 'positive':
      case 'count':
      case 'types':
      case 'values':
      case 'strings':
      case 'anything':
        checkData(shape, value, place);
        return readData(value, place, depth);
    }
  }

  function readData(value: unknown, place: string, depth: number): unknown {
    enter(place, depth);
    if (Array.isArray(value)) return value.map((item, index) => readData(item, `${place}/${index}`, depth + 1));
    if (isJsonObject(value)) return readMap(value, place, depth + 1, readData);
    return value;
  }
}

/** Where the schema is in the envelopes that interfaces of models and tools put it in. */
const CONTENTS = ['schema', 'json_schema', 'function', 'parameters', 'input_schema', 'inputSchema'];
/** `{ type: 'json_schema', json_schema: { name, schema } }` has two. */
const DEEPEST_ENVELOPE = 4;
const ENVELOPE_TYPES: ReadonlySet<unknown> = new Set(['json_schema', 'function', 'custom']);
/** Keywords that do not restrict values: a schema that has only these intentionally allows anything. */
const ANNOTATION =
  /^(?:[$x]|title$|description$|default$|examples?$|deprecated$|readOnly$|writeOnly$|content|nullable$|additionalItems$|dependencies$|id$)/;

/**
 * Takes a schema out of its envelope: `{ name, strict, schema }`, `{ type: 'json_schema', json_schema }`, `{ name, parameters }`,
 * `{ name, input_schema }`. Read as a schema, an envelope has no keyword and would let anything pass; so would any other object
 * without one, which is refused.
 */
export function openEnvelope(schema: unknown): unknown {
  let inner = schema;
  for (let level = 0; level < DEEPEST_ENVELOPE && isJsonObject(inner); level += 1) {
    const envelope = inner;
    const keys = Object.keys(envelope).filter((key) => !(key === 'type' && ENVELOPE_TYPES.has(envelope[key])));
    if (keys.length === 0 || keys.some((key) => KEYWORD_SHAPES.has(key))) return envelope;
    const content = CONTENTS.find((key) => isJsonObject(envelope[key]));
    if (content === undefined) {
      if (keys.some((key) => ANNOTATION.test(key))) return envelope;
      const listed = keys.slice(0, 5).map((key) => describe(key));
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
  place: string,
  depth: number,
  read: (item: unknown, place: string, depth: number) => unknown,
): Record<string, unknown> {
  if (!isJsonObject(value)) throw createSchemaError(place, `expected an object, not ${describe(value)}`);
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    setOwnValue(copy, key, read(value[key], `${place}/${escapePointer(key)}`, depth));
  }
  return copy;
}

function checkData(shape: DataShape, value: unknown, place: string): void {
  const problem = findProblem(shape, value);
  if (problem !== undefined) throw createSchemaError(place, problem);
}

function findProblem(shape: DataShape, value: unknown): string | undefined {
  switch (shape) {
    case 'string':
      return typeof value === 'string' ? undefined : `expected a string, not ${describe(value)}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected true or false, not ${describe(value)}`;
    case 'number':
      return Number.isFinite(value) ? undefined : `expected a number, not ${describe(value)}`;
    case 'positive':
      return Number.isFinite(value) && Number(value) > 0 ? undefined : 'expected a number above 0';
    case 'count':
      return Number.isInteger(value) && Number(value) >= 0 ? undefined : 'expected a whole number of at least 0';
    case 'values':
      return Array.isArray(value) && value.length > 0 ? undefined : 'expected a list of at least one value';
    case 'strings':
      return Array.isArray(value) && value.every((item) => typeof item === 'string')
        ? undefined
        : 'expected a list of property names';
    case 'types':
      return findTypesProblem(value);
    case 'anything':
      return undefined;
  }
}

function findTypesProblem(value: unknown): string | undefined {
  const names: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (names.length === 0) return 'expected at least one type';
  const unknown = names.find((name) => typeof name !== 'string' || !TYPE_NAMES.has(name));
  if (unknown === undefined) return undefined;
  return `${describe(unknown)} is not a type; use one of ${[...TYPE_NAMES].join(', ')}`;
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : `a value of type ${typeof value}`;
}

/** One step of a JSON pointer, as RFC 6901 escapes it. */
export function escapePointer(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Keywords that would change how a compiler behaves and do not restrict values. */
const DROPPED = new Set(['$schema', '$async', '$comment', '$vocabulary', 'id']);

/**
 * Spells one schema object the way draft 2020-12 does. Libraries and people still write draft 7 and OpenAPI 3.0:
 * `items` as a list, `dependencies`, `exclusiveMinimum: true`, `nullable`.
 */
function modernizeSchema(schema: Readonly<Record<string, unknown>>): Map<string, unknown> {
  const keywords = new Map<string, unknown>();
  for (const key of Object.keys(schema)) {
    if (!DROPPED.has(key) && schema[key] !== undefined) keywords.set(key, schema[key]);
  }
  const items = keywords.get('items');
  if (Array.isArray(items)) {
    keywords.delete('items');
    if (items.length > 0) keywords.set('prefixItems', items);
    if (keywords.has('additionalItems')) keywords.set('items', keywords.get('additionalItems'));
  }
  if (isJsonObject(keywords.get('dependencies'))) splitDependencies(keywords);
  takeBooleanBound(keywords, 'minimum', 'exclusiveMinimum');
  takeBooleanBound(keywords, 'maximum', 'exclusiveMaximum');
  takeNullable(keywords);
  return keywords;
}

/** OpenAPI gives `nullable` a meaning only together with `type`. */
function takeNullable(keywords: Map<string, unknown>): void {
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

function takeBooleanBound(keywords: Map<string, unknown>, bound: string, exclusive: string): void {
  const flag = keywords.get(exclusive);
  if (typeof flag !== 'boolean') return;
  keywords.delete(exclusive);
  const limit = keywords.get(bound);
  if (!flag || limit === undefined) return;
  keywords.delete(bound);
  keywords.set(exclusive, limit);
}
