import { z } from 'zod';
import { readDebateOutput } from './debate-output.js';

const Resolution = z.object({
  winner: z.enum(['bull', 'bear', 'draw']),
  decisive_point: z.string(),
});

export function readResolution(raw: string): z.infer<typeof Resolution> {
  return readDebateOutput('resolution', raw, Resolution);
}
