import { toParseOutput } from '../../api/index.js';
import type { BodyOf, ENDPOINTS } from '../../api/index.js';
import { parse } from '../../json/index.js';
import type { ParseResult, StandardSchema } from '../../json/index.js';
import type { JsonSchema } from '../../json-schema/index.js';
import type { ParsedText } from '../server-context.js';
import { RequestError } from '../http/request-error.js';

/** The body of `POST /v1/parse`. */
export type ParseRequest = BodyOf<typeof ENDPOINTS.parse>;

/** The answer as text, and what the metrics count. */
export interface ParseAnswer {
  readonly json: string;
  readonly parsed: ParsedText;
}

/** A text of control characters takes six times its size as JSON. */
const ANSWER_CHARACTERS = 32 * 1024 * 1024;

/** Parses the text of a request. Throws `INVALID_BODY`, `INVALID_SCHEMA` or `ANSWER_TOO_LARGE`. */
export function answerParse(request: ParseRequest, compile: (schema: JsonSchema) => StandardSchema): ParseAnswer {
  const { text, schema, profile, allow_partial: allowPartial, align, prefer } = request;
  if (align === true && schema === undefined)
    throw new RequestError('INVALID_BODY', '"align" needs a schema. Add "schema", or omit "align".');
  const compiled = schema === undefined ? undefined : compile(schema);
  const result = parse(text, compiled, {
    ...(profile !== undefined && { profile }),
    ...(allowPartial !== undefined && { allowPartial }),
    ...(align !== undefined && { align }),
    ...(prefer !== undefined && { prefer }),
  });
  const json = writeAnswer(request, result);
  if (json.length > ANSWER_CHARACTERS) {
    throw new RequestError(
      'ANSWER_TOO_LARGE',
      `The answer would be larger than ${ANSWER_CHARACTERS} characters. Send a smaller text.`,
    );
  }
  const { status, repairLevel } = result;
  return { json, parsed: { status, repairLevel, code: status === 'failed' ? result.error.code : 'none' } };
}

/** A text that is valid JSON as a whole is its own value: writing the value again takes longer than all else that is done with it. */
function writeAnswer({ text, profile = 'default' }: ParseRequest, result: ParseResult<unknown>): string {
  const output = toParseOutput(result);
  const isWhole = result.ok && result.repairLevel === 'none' && result.candidate.finder === 'whole';
  if (!isWhole || profile !== 'default' || result.candidate.end !== text.length) return JSON.stringify(output);
  const { status, value: _, ...rest } = output;
  return `{"status":"${status}","value":${text},${JSON.stringify(rest).slice(1)}`;
}
