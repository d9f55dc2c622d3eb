import { ParseError, parseOrThrow, type Normalizer, type StandardSchema } from 'sluice/json';

/** A research agent's answer was rejected. Each group of agents has its own error class; the reasons are in `cause`. */
export class ResearchOutputError extends Error {
  override readonly name = 'ResearchOutputError';
  override readonly cause: ParseError;

  constructor(cause: ParseError) {
    super(`research output rejected: ${cause.message}`);
    this.cause = cause;
  }
}

/** Reads a research agent's answer. */
export function readResearchOutput<Output>(
  agent: string,
  raw: string,
  schema: StandardSchema<unknown, Output>,
  normalizers: readonly Normalizer[] = [],
): Output {
  try {
    return parseOrThrow(raw, schema, { profile: 'unified', label: `research/${agent}`, normalizers });
  } catch (error) {
    throw error instanceof ParseError ? new ResearchOutputError(error) : error;
  }
}
