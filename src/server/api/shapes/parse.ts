import { anything, count, flag, name, object, oneOf, text, type FromSchema } from '../../../base/index.js';
import type { ParseError, ParseErrorCode, ParseResult } from '../../../json/index.js';
import { repairLevel } from '../../../store/records/index.js';

/** The text to parse and the options, as in `sluice parse`. */
export const parseRequestSchema = object(
  { text },
  {
    schema: { type: ['object', 'boolean'], description: 'A JSON Schema, draft 2020-12.' },
    profile: oneOf(['default', 'generic', 'tagged', 'unified']),
    allow_partial: flag,
    align: flag,
    ambiguous: {
      ...oneOf(['first', 'last', 'fail']),
      description: 'Which value to use if different values are valid and nothing decides between them.',
    },
  },
);

/** Text to export as a suite case, with the options that a contract has: no `ambiguous`, and an object as schema. */
export const caseRequestSchema = object(
  {
    text: { type: 'string', maxLength: 1_000_000 },
    name: {
      type: 'string',
      maxLength: 100,
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
      description: 'The name of the case.',
    },
  },
  {
    schema: { type: 'object', description: 'A JSON Schema, draft 2020-12.' },
    profile: parseRequestSchema.properties.profile,
    allow_partial: flag,
    align: flag,
  },
);

const path = { type: 'array', items: { type: ['string', 'integer'] } } as const;
/** Where a value was found; offsets are UTF-16 units of the input without its byte order mark. */
const candidate = object({
  finder: oneOf(['whole', 'tag', 'ndjson', 'envelope', 'fence', 'prose']),
  start: count,
  end: count,
});

/** The result, as `sluice parse` prints it. */
export const parseResponseSchema = object(
  {
    status: oneOf(['success', 'failed', 'comment']),
    repair_level: repairLevel,
    repairs: {
      type: 'array',
      items: object(
        { kind: name, message: text, offset: count },
        {
          /** Only in the last repair of a long list: the number of further repairs. */
          omitted: count,
        },
      ),
    },
    warnings: { type: 'array', items: object({ code: name, message: text }, { offset: count, path }) },
  },
  {
    value: anything,
    comment: text,
    alignment: { type: 'array', items: object({ path, rule: name }, { from: anything, to: anything }) },
    /** Total number of changes, if not all are listed. */
    alignment_count: count,
    error: object(
      {
        code: name,
        message: text,
        attempts: { type: 'array', items: object({ candidate, code: name, message: text }) },
      },
      { hint: text, issues: { type: 'array', items: object({ path, message: text }) } },
    ),
    candidate,
  },
);

/** The output of `sluice parse` and the response of `POST /v1/parse`. */
export type ParseOutput = FromSchema<typeof parseResponseSchema>;

/** Same as the limit on repairs. A longer list would make the output many times as large as the input. */
const MAX_CHANGES = 1000;

export function toParseOutput(result: ParseResult<unknown>): ParseOutput {
  const { status, warnings } = result;
  switch (status) {
    case 'success':
      return {
        status,
        value: result.value,
        repair_level: result.repairLevel,
        repairs: result.repairs,
        ...(result.alignment.length > 0 && { alignment: result.alignment.slice(0, MAX_CHANGES) }),
        ...(result.alignment.length > MAX_CHANGES && { alignment_count: result.alignment.length }),
        warnings,
        candidate: result.candidate,
      };
    case 'failed':
      return { status, repair_level: result.repairLevel, repairs: [], warnings, error: toOutputError(result.error) };
    case 'comment':
      return { status, comment: result.comment, repair_level: result.repairLevel, repairs: [], warnings };
  }
}

function toOutputError({ code, message, issues, attempts }: ParseError): NonNullable<ParseOutput['error']> {
  const hint = HINTS[code];
  return { code, message, ...(hint !== undefined && { hint }), ...(issues !== undefined && { issues }), attempts };
}

/** Options that might help, with their names in code and on the command line. */
const HINTS: Readonly<Partial<Record<ParseErrorCode, string>>> = {
  SCHEMA_MISMATCH: 'Set align (--align) to convert near misses to match the schema.',
};
