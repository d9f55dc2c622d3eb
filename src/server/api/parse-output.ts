import type {
  AlignmentChange,
  Attempt,
  Candidate,
  ParseError,
  ParseErrorCode,
  ParseResult,
  Repair,
  RepairLevel,
  SchemaIssue,
  Warning,
} from '../../json/index.js';

/** The output of `sluice parse` and the response of `POST /v1/parse`. */
export interface ParseOutput {
  readonly status: 'success' | 'failed' | 'comment';
  /** With `success`. */
  readonly value?: unknown;
  /** With `comment`: the full text, to be shown to the user. */
  readonly comment?: string;
  readonly repair_level: RepairLevel;
  readonly repairs: readonly Repair[];
  /** With `success`, if alignment changed something. */
  readonly alignment?: readonly AlignmentChange[];
  /** Total number of changes, if not all are listed. */
  readonly alignment_count?: number;
  readonly warnings: readonly Warning[];
  /** With `failed`. */
  readonly error?: ParseOutputError;
  /** With `success`: where the value was found; offsets are UTF-16 units of the input without its byte order mark. */
  readonly candidate?: Candidate;
}

/** Why there is no value, and what was tried. */
export interface ParseOutputError {
  readonly code: string;
  readonly message: string;
  /** An option that might help. */
  readonly hint?: string;
  readonly issues?: readonly SchemaIssue[];
  readonly attempts: readonly Attempt[];
}

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

function toOutputError({ code, message, issues, attempts }: ParseError): ParseOutputError {
  const hint = HINTS[code];
  return { code, message, ...(hint !== undefined && { hint }), ...(issues !== undefined && { issues }), attempts };
}

/** Options that might help, with their names in code and on the command line. */
const HINTS: Readonly<Partial<Record<ParseErrorCode, string>>> = {
  TRUNCATED: 'Set allowPartial (--allow-partial) to accept a truncated value.',
  SCHEMA_MISMATCH: 'Set align (--align) to convert near misses to match the schema.',
  AMBIGUOUS: 'Set ambiguous (--ambiguous) to "first" or "last" to choose one.',
};
