import type { z } from 'zod';
import { Advocacy, flattenArguments } from './advocacy.js';
import { readDebateOutput } from './debate-output.js';

export function readBullCase(raw: string): z.infer<typeof Advocacy> {
  return readDebateOutput('bull_advocate', raw, Advocacy, [flattenArguments]);
}
