import { toParseOutput } from '../../api/index.js';
import { parse } from '../../json/index.js';
import { fromJsonSchema } from '../../json-schema/index.js';
import type { JsonSchema } from '../../json-schema/index.js';
import { RequestError } from '../http/problem.js';
import type { Handlers } from '../http/request-checks.js';
import type { ServerContext } from '../server-context.js';

/** Parsing over HTTP. */
export function createParseHandlers({ meter }: ServerContext): Pick<Handlers, 'parse'> {
  const schemas = createSchemaCache();
  return {
    async parse({ body }) {
      const { text, schema, profile = 'default', allow_partial: allowPartial = false, align = false, prefer } = body;
      if (align && schema === undefined)
        throw new RequestError('INVALID_BODY', '"align" needs a schema. Add "schema", or omit "align".');
      const compiled = schema === undefined ? undefined : schemas.compile(schema);
      const result = parse(text, compiled, {
        profile,
        allowPartial,
        align,
        ...(prefer === undefined ? {} : { prefer }),
      });
      meter.parsed(result);
      return toParseOutput(result);
    },
  };
}

type Compiled = ReturnType<typeof fromJsonSchema>;

const MAX_SCHEMAS = 64;
/** Longer ones are compiled every time. */
const MAX_CHARACTERS = 64 * 1024;

/** Recently used schemas, compiled. */
interface SchemaCache {
  /** Throws `INVALID_SCHEMA`. */
  compile(schema: JsonSchema): Compiled;
}

/**
 * Caches the schemas of recent requests: callers send the same one with every text. They are untrusted, so no code
 * is generated from them, and their cost is bounded.
 */
export function createSchemaCache(): SchemaCache {
  const kept = new Map<string, Compiled>();
  return {
    compile(schema) {
      const key = writeKey(schema);
      const compiled = kept.get(key ?? '') ?? fromJsonSchema(schema, { trusted: false });
      if (key === undefined || key.length > MAX_CHARACTERS) return compiled;
      // Least recently used first out.
      kept.delete(key);
      kept.set(key, compiled);
      const [oldest] = kept.size > MAX_SCHEMAS ? kept.keys() : [];
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
