/**
 * The result of a reader step: it read something (`CONTINUE`), needs more input (`WAIT`), or found the start of a
 * token. Like `state.ts`, a separate file with numbers, because esbuild inlines imported numbers.
 */
export const WAIT = 0;
export const CONTINUE = 1;
/** A string starts here. */
export const STRING = 2;
/** Unquoted text starts here. */
export const BARE = 3;
/** Something other than filler starts here. */
export const TOKEN = 4;
/** The end of the string was read. */
export const DONE = 5;
/** The input ended inside the string. */
export const CUT = 6;

export type TokenKind = typeof STRING | typeof BARE;
/** The result of a structure step. */
export type StructureStep = typeof CONTINUE | typeof WAIT | TokenKind;
/** The result of a filler step. */
export type FillerStep = typeof CONTINUE | typeof WAIT | typeof TOKEN;
/** The result of a string step. */
export type StepResult = typeof CONTINUE | typeof WAIT | typeof DONE | typeof CUT;
