import type { z } from 'zod';
import { Advocacy, flattenArguments } from './advocacy.js';
import { readDebateOutput } from './debate-output.js';

export function readBearCase(raw: string): z.infer<typeof Advocacy> {
  return readDebateOutput('bear_advocate', raw, Advocacy, [flattenArguments]);
}
