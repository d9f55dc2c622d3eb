import type { StandardSchema } from '../../json/index.js';
import type { JsonSchema } from '../../json/schema/index.js';

const MAX_SCHEMAS = 64;
/** Longer schemas are compiled every time. */
const MAX_CHARACTERS = 64 * 1024;

/**
 * Caches the compiled schemas of recent requests, because callers send the same schema with every request. Schemas are
 * untrusted, so no code is generated from them, and their cost is limited.
 */
export function createSchemaCache(
  compile: (schema: JsonSchema) => StandardSchema,
): (schema: JsonSchema) => StandardSchema {
  const cache = new Map<string, StandardSchema>();
  return (schema) => {
    const key = createKey(schema);
    const compiled = cache.get(key ?? '') ?? compile(schema);
    if (key === undefined || key.length > MAX_CHARACTERS) return compiled;
    // The least recently used schema is removed first.
    cache.delete(key);
    cache.set(key, compiled);
    const [oldest] = cache.size > MAX_SCHEMAS ? cache.keys() : [];
    if (oldest !== undefined) cache.delete(oldest);
    return compiled;
  };
}

/** Serializes the schema; undefined if it is nested too deeply for that, and therefore unusable. */
function createKey(schema: JsonSchema): string | undefined {
  try {
    return JSON.stringify(schema);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
