import { configFileSchema } from './config.js';

/**
 * Lists the keys that a configuration may have at a path; empty if any key is allowed or the path is unknown.
 *
 * @example
 * listKnownKeys(['retention']) // ['runs', 'records', 'delivered', 'results', 'mirrors']
 */
export function listKnownKeys(path: readonly string[]): readonly string[] {
  let schema: unknown = configFileSchema;
  for (const key of path) {
    schema =
      getMember(getMember(schema, 'properties'), key) ??
      getMember(schema, 'additionalProperties') ??
      getMember(schema, 'items');
  }
  const names = getMember(getMember(schema, 'propertyNames'), 'enum');
  if (Array.isArray(names)) return names.map(String);
  const properties = getMember(schema, 'properties');
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}

function getMember(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}
