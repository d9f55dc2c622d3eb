import { z } from 'zod';

/** The answer of an agent that reviews code, inside `<json>` tags. */
export const AnalysisResult = z.object({
  issues: z.array(
    z.object({
      file: z.string().min(1),
      line: z.int().min(1),
      severity: z.enum(['critical', 'high', 'medium', 'low']),
      message: z.string().min(1),
    }),
  ),
});
