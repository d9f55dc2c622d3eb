import { z } from 'zod';
import { readJudgeOutput } from './judge-output.js';

const Verdict = z.object({
  action: z.enum(['buy', 'hold', 'sell']),
  confidence: z.number().min(0).max(1),
  reasons: z.array(z.string()),
});

export function readVerdict(raw: string): z.infer<typeof Verdict> {
  return readJudgeOutput('verdict', raw, Verdict);
}
