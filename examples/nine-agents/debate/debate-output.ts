import { ParseError, parseOrThrow, type Normalizer, type StandardSchema } from 'sluice/json';

/** A debate agent's answer was rejected. Each group of agents has its own error class; the reasons are in `cause`. */
export class DebateOutputError extends Error {
  override readonly name = 'DebateOutputError';
  override readonly cause: ParseError;

  constructor(cause: ParseError) {
    super(`debate output rejected: ${cause.message}`);
    this.cause = cause;
  }
}

/** Reads a debate agent's answer. */
export function readDebateOutput<Output>(
  agent: string,
  raw: string,
  schema: StandardSchema<unknown, Output>,
  normalizers: readonly Normalizer[] = [],
): Output {
  try {
    return parseOrThrow(raw, schema, { profile: 'unified', label: `debate/${agent}`, normalizers });
  } catch (error) {
    throw error instanceof ParseError ? new DebateOutputError(error) : error;
  }
}
