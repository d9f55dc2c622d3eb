import type { StandardSchema } from '../../json/index.js';
import type { JsonSchema } from '../../json-schema/index.js';

const MAX_SCHEMAS = 64;
/** Longer ones are compiled every time. */
const MAX_CHARACTERS = 64 * 1024;

/**
 * Caches the schemas of recent requests: callers send the same one with every text. They are untrusted, so no code
 * is generated from them, and their cost is bounded.
 */
export function createSchemaCache(
  compile: (schema: JsonSchema) => StandardSchema,
): (schema: JsonSchema) => StandardSchema {
  const kept = new Map<string, StandardSchema>();
  return (schema) => {
    const key = writeKey(schema);
    const compiled = kept.get(key ?? '') ?? compile(schema);
    if (key === undefined || key.length > MAX_CHARACTERS) return compiled;
    // Least recently used first out.
    kept.delete(key);
    kept.set(key, compiled);
    const [oldest] = kept.size > MAX_SCHEMAS ? kept.keys() : [];
    if (oldest !== undefined) kept.delete(oldest);
    return compiled;
  };
}

/** The schema as text; undefined if it is nested too deeply for that, and so for any use of it. */
function writeKey(schema: JsonSchema): string | undefined {
  try {
    return JSON.stringify(schema);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
