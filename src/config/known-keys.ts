import { configFileSchema } from './config.js';

/**
 * The keys a configuration may have at a place; none if any key is allowed, or where the place itself is unknown.
 *
 * @example
 * knownKeys(['retention']) // ['runs', 'records', 'delivered', 'results']
 */
export function knownKeys(path: readonly string[]): readonly string[] {
  let place: unknown = configFileSchema;
  for (const key of path) {
    place =
      getMember(getMember(place, 'properties'), key) ??
      getMember(place, 'additionalProperties') ??
      getMember(place, 'items');
  }
  const names = getMember(getMember(place, 'propertyNames'), 'enum');
  if (Array.isArray(names)) return names.map(String);
  const properties = getMember(place, 'properties');
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}

function getMember(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}
