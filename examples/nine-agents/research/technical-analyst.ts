import { z } from 'zod';
import { readResearchOutput } from './research-output.js';

const TechnicalView = z.object({
  trend: z.enum(['up', 'down', 'sideways']),
  support: z.number(),
  resistance: z.number(),
});

export function readTechnicalView(raw: string): z.infer<typeof TechnicalView> {
  return readResearchOutput('technical_analyst', raw, TechnicalView);
}
