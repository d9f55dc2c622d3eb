import { z } from 'zod';
import { readResearchOutput } from './research-output.js';

const MacroView = z.object({
  regime: z.enum(['expansion', 'slowdown', 'recession', 'recovery']),
  drivers: z.array(z.string()).min(1),
});

export function readMacroView(raw: string): z.infer<typeof MacroView> {
  return readResearchOutput('macro_intelligence', raw, MacroView);
}
