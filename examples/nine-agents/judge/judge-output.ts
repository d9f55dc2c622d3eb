import { ParseError, parseOrThrow, type Normalizer, type StandardSchema } from 'sluice/json';

/** A judge agent's answer was rejected. Each group of agents has its own error class; the reasons are in `cause`. */
export class JudgeOutputError extends Error {
  override readonly name = 'JudgeOutputError';
  override readonly cause: ParseError;

  constructor(cause: ParseError) {
    super(`judge output rejected: ${cause.message}`);
    this.cause = cause;
  }
}

/** Reads a judge agent's answer. */
export function readJudgeOutput<Output>(
  agent: string,
  raw: string,
  schema: StandardSchema<unknown, Output>,
  normalizers: readonly Normalizer[] = [],
): Output {
  try {
    return parseOrThrow(raw, schema, { profile: 'unified', label: `judge/${agent}`, normalizers });
  } catch (error) {
    throw error instanceof ParseError ? new JudgeOutputError(error) : error;
  }
}
