/** Longest message that is put together from pieces; a program that never stops talking gets several. */
export const MAX_MESSAGE_LENGTH = 8 * 1024 * 1024;
