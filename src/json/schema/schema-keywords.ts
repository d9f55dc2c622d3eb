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

const KEYWORDS: Readonly<Record<KeywordShape, string>> = {
  string: '$id $anchor $dynamicAnchor $ref $dynamicRef pattern format',
  boolean: 'uniqueItems',
  number: 'minimum maximum exclusiveMinimum exclusiveMaximum',
  positive: 'multipleOf',
  count: 'minLength maxLength minContains maxContains minItems maxItems minProperties maxProperties',
  types: 'type',
  values: 'enum',
  strings: 'required',
  anything: 'const',
  schema: 'items contains unevaluatedItems additionalProperties propertyNames unevaluatedProperties not if then else',
  schemas: 'prefixItems allOf anyOf oneOf',
  schemaMap: '$defs definitions properties patternProperties dependentSchemas',
  stringsMap: 'dependentRequired',
};

/** Every keyword of draft 2020-12 that affects validation. Others are ignored. */
export const KEYWORD_SHAPES: ReadonlyMap<string, KeywordShape> = new Map(
  Object.entries(KEYWORDS).flatMap(([shape, keywords]) =>
    keywords.split(' ').map((keyword) => [keyword, shape as KeywordShape]),
  ),
);

/** The names allowed in `type`. */
export const TYPE_NAMES = 'null boolean integer number string array object'.split(' ');
