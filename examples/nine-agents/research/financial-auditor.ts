import { z } from 'zod';
import { readResearchOutput } from './research-output.js';

const Audit = z.object({
  quality: z.number().int().min(1).max(10),
  red_flags: z.array(z.string()),
});

export function readAudit(raw: string): z.infer<typeof Audit> {
  return readResearchOutput('financial_auditor', raw, Audit);
}
