import type { FromSchema } from '../../base/index.js';
import type { ParseError, ParseErrorCode, ParseResult } from '../../json/index.js';
import type { parseResponseSchema } from './shapes/run.js';

/** The output of `sluice parse` and the response of `POST /v1/parse`. */
export type ParseOutput = FromSchema<typeof parseResponseSchema>;

/** Same as the limit on repairs. A longer list would make the output many times as large as the input. */
const MAX_CHANGES = 1000;

/** Converts a result for output. */
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
  TRUNCATED: 'Set allowPartial (--allow-partial) to accept a truncated value.',
  SCHEMA_MISMATCH: 'Set align (--align) to convert near misses to match the schema.',
  AMBIGUOUS: 'Set ambiguous (--ambiguous) to "first" or "last" to choose one.',
};
