/** Most bytes a command reads of one input: the default of `limits.bytes`, since no option of a command raises it. */
export const MAX_INPUT_BYTES = 64 * 1024 * 1024;
