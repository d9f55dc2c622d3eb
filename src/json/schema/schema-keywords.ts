/** Kinds of keyword values that are plain data. */
export type DataShape =
  | 'string'
  | 'boolean'
  | 'number'
  | 'positive'
  | 'count'
  | 'types'
  | 'values'
  | 'strings'
  | 'anything';

/** All kinds of keyword values: plain data, schemas, and lists or maps of them. */
export type KeywordShape = DataShape | 'schema' | 'schemas' | 'schemaMap' | 'stringsMap';

/** Every keyword of draft 2020-12 that affects validation. Others are ignored. */
export const KEYWORD_SHAPES: ReadonlyMap<string, KeywordShape> = new Map<string, KeywordShape>([
  ['$id', 'string'],
  ['$anchor', 'string'],
  ['$dynamicAnchor', 'string'],
  ['$ref', 'string'],
  ['$dynamicRef', 'string'],
  ['$defs', 'schemaMap'],
  ['definitions', 'schemaMap'],
  ['type', 'types'],
  ['enum', 'values'],
  ['const', 'anything'],
  ['multipleOf', 'positive'],
  ['minimum', 'number'],
  ['maximum', 'number'],
  ['exclusiveMinimum', 'number'],
  ['exclusiveMaximum', 'number'],
  ['minLength', 'count'],
  ['maxLength', 'count'],
  ['pattern', 'string'],
  ['format', 'string'],
  ['prefixItems', 'schemas'],
  ['items', 'schema'],
  ['contains', 'schema'],
  ['minContains', 'count'],
  ['maxContains', 'count'],
  ['minItems', 'count'],
  ['maxItems', 'count'],
  ['uniqueItems', 'boolean'],
  ['unevaluatedItems', 'schema'],
  ['properties', 'schemaMap'],
  ['patternProperties', 'schemaMap'],
  ['additionalProperties', 'schema'],
  ['propertyNames', 'schema'],
  ['minProperties', 'count'],
  ['maxProperties', 'count'],
  ['required', 'strings'],
  ['dependentRequired', 'stringsMap'],
  ['dependentSchemas', 'schemaMap'],
  ['unevaluatedProperties', 'schema'],
  ['allOf', 'schemas'],
  ['anyOf', 'schemas'],
  ['oneOf', 'schemas'],
  ['not', 'schema'],
  ['if', 'schema'],
  ['then', 'schema'],
  ['else', 'schema'],
]);

/** The names allowed in `type`. */
export const TYPE_NAMES: ReadonlySet<string> = new Set([
  'null',
  'boolean',
  'integer',
  'number',
  'string',
  'array',
  'object',
]);
