/**
 * The result of a step of the reader: read something (`CONTINUE`), needs more text (`WAIT`), or found a token that begins here. Numbers
 * in a separate file, like those of `state.ts`, because esbuild inlines imported numbers.
 */
export const WAIT = 0;
export const CONTINUE = 1;
/** A string begins here. */
export const STRING = 2;
/** Unquoted text begins here. */
export const BARE = 3;
/** Something other than filler begins here. */
export const TOKEN = 4;
/** The end of the string was read. */
export const DONE = 5;
/** All text ended inside the string. */
export const CUT = 6;

export type TokenKind = typeof STRING | typeof BARE;
/** A step of the structure. */
export type Structural = typeof CONTINUE | typeof WAIT | TokenKind;
/** A step of the filler. */
export type Filling = typeof CONTINUE | typeof WAIT | typeof TOKEN;
/** A step of a string. */
export type Reading = typeof CONTINUE | typeof WAIT | typeof DONE | typeof CUT;
