import { isJsonObject } from './json-schema.js';

/** Keywords that would make a compiler change its behaviour, and that say nothing about a value. */
const DROPPED = new Set(['$schema', '$async', '$comment', '$vocabulary', 'id']);

/**
 * Spells one schema object the way draft 2020-12 does. Libraries and people still write draft 7 and OpenAPI 3.0:
 * `items` as a list, `dependencies`, `exclusiveMinimum: true`, `nullable`.
 */
export function modernizeSchema(schema: Readonly<Record<string, unknown>>): Map<string, unknown> {
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

/** OpenAPI gives `nullable` a meaning only beside `type`. */
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
