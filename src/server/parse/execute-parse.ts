import { toParseOutput, type BodyOf, type ENDPOINTS } from '../api/index.js';
import { parse, type ParseResult, type StandardSchema } from '../../json/index.js';
import type { JsonSchema } from '../../json/schema/index.js';
import type { ParseOutcome } from '../server-context.js';
import { RequestError } from '../http/request-error.js';
import { omitUndefined, setLatest } from '../../base/index.js';

export type ParseRequest = BodyOf<typeof ENDPOINTS.parse>;

export interface ParseResponse {
  readonly json: string;
  readonly parsed: ParseOutcome;
}

/** The maximum response length. JSON can be six times as long as its input, if that has only control characters. */
const MAX_CHARACTERS = 32 * 1024 * 1024;

/** Parses the text in a request. Throws `INVALID_BODY`, `INVALID_SCHEMA` or `ANSWER_TOO_LARGE`. */
export function executeParse(request: ParseRequest, compile: (schema: JsonSchema) => StandardSchema): ParseResponse {
  const { text, schema, profile, allow_partial: allowPartial, align, ambiguous } = request;
  if (align === true && schema === undefined)
    throw new RequestError('INVALID_BODY', '"align" needs a schema. Add "schema", or omit "align".');
  const compiled = schema === undefined ? undefined : compile(schema);
  const result = parse(text, compiled, omitUndefined({ profile, allowPartial, align, ambiguous }));
  const json = formatResponse(request, result);
  if (json.length > MAX_CHARACTERS) {
    throw new RequestError(
      'ANSWER_TOO_LARGE',
      `The response would be larger than ${MAX_CHARACTERS} characters. Send a shorter text.`,
    );
  }
  const { status, repairLevel } = result;
  return { json, parsed: { status, repairLevel, code: status === 'failed' ? result.error.code : 'none' } };
}

/** A lone surrogate. UTF-8 cannot represent it; `JSON.stringify` escapes it. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Inserts input that is valid JSON unchanged between the fields of {@link toParseOutput}: serializing its value again
 * would take longer than everything else.
 */
function formatResponse({ text, profile = 'default' }: ParseRequest, result: ParseResult<unknown>): string {
  const isWhole = result.ok && result.repairLevel === 'none' && result.candidate.finder === 'whole';
  if (!isWhole || profile !== 'default' || result.candidate.end !== text.length || LONE_SURROGATE.test(text))
    return JSON.stringify(toParseOutput(result));
  const { status, repairLevel, warnings, candidate } = result;
  const warningsJson = warnings.length === 0 ? '[]' : JSON.stringify(warnings);
  return `{"status":"${status}","value":${text},"repair_level":"${repairLevel}","repairs":[],"warnings":${warningsJson},"candidate":${JSON.stringify(candidate)}}`;
}

const MAX_SCHEMAS = 64;
/** Longer schemas are compiled every time. */
const MAX_SCHEMA_CHARACTERS = 64 * 1024;

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
    if (key === undefined || key.length > MAX_SCHEMA_CHARACTERS) return compiled;
    // The least recently used schema is removed first.
    setLatest(cache, MAX_SCHEMAS, key, compiled);
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
