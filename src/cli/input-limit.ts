import { resolveLimits } from '../json/index.js';

/** Most bytes a command reads of one input: the default of `limits.bytes`, since no option of a command raises it. */
export const MAX_INPUT_BYTES = resolveLimits(undefined).bytes;
