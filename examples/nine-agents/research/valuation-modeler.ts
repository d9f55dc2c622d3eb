import { z } from 'zod';
import { readResearchOutput } from './research-output.js';

const Valuation = z.object({
  verdict: z.enum(['undervalued', 'fair', 'overvalued']),
  fair_value: z.number().positive(),
  method: z.string(),
});

/** Words that models use instead of the three requested ones. */
const VERDICTS: ReadonlyMap<unknown, string> = new Map([
  ['cheap', 'undervalued'],
  ['buy', 'undervalued'],
  ['fairly valued', 'fair'],
  ['expensive', 'overvalued'],
  ['sell', 'overvalued'],
]);

function mapVerdict(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('verdict' in value)) return value;
  const word = typeof value.verdict === 'string' ? value.verdict.toLowerCase() : value.verdict;
  return { ...value, verdict: VERDICTS.get(word) ?? word };
}

export function readValuation(raw: string): z.infer<typeof Valuation> {
  return readResearchOutput('valuation_modeler', raw, Valuation, [mapVerdict]);
}
