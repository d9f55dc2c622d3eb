import { z } from 'zod';
import { readResearchOutput } from './research-output.js';

const Catalysts = z.object({
  catalysts: z.array(z.object({ event: z.string(), expected_on: z.iso.date().nullable() })),
});

export function readCatalysts(raw: string): z.infer<typeof Catalysts> {
  return readResearchOutput('catalyst_detective', raw, Catalysts);
}
