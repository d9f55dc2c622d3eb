import { z } from 'zod';

/** The answer of both advocates. */
export const Advocacy = z.object({
  thesis: z.string(),
  supporting_arguments: z.array(z.string()).min(1),
});

/** Models often send `{ "argument": …, "evidence": … }` instead of a sentence: uses only the argument. */
export function flattenArguments(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('supporting_arguments' in value)) return value;
  const list = value.supporting_arguments;
  return Array.isArray(list) ? { ...value, supporting_arguments: list.map(toSentence) } : value;
}

function toSentence(argument: unknown): unknown {
  return typeof argument === 'object' && argument !== null && 'argument' in argument ? argument.argument : argument;
}
