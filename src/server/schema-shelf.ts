import { fromJsonSchema } from '../json-schema/index.js';
import type { JsonSchema } from '../json-schema/index.js';

type Compiled = ReturnType<typeof fromJsonSchema>;

const MOST_SCHEMAS = 64;
/** Longer ones are read anew every time. */
const MOST_CHARACTERS = 64 * 1024;

/** Schemas that were asked for lately, ready to check with. */
export interface SchemaShelf {
  /** Throws `INVALID_SCHEMA` for what is no schema. */
  take(schema: JsonSchema): Compiled;
}

/**
 * Keeps the schemas of the last requests: callers send the same one with every text. They come from strangers, so no code
 * is made from them, and what they may cost is bounded.
 */
export function createSchemaShelf(): SchemaShelf {
  const kept = new Map<string, Compiled>();
  return {
    take(schema) {
      const key = writeKey(schema);
      const compiled = kept.get(key ?? '') ?? fromJsonSchema(schema, { trusted: false });
      if (key === undefined || key.length > MOST_CHARACTERS) return compiled;
      // The one used last is the last to go.
      kept.delete(key);
      kept.set(key, compiled);
      const [oldest] = kept.size > MOST_SCHEMAS ? kept.keys() : [];
      if (oldest !== undefined) kept.delete(oldest);
      return compiled;
    },
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
