// Structure states: which token is expected next. The first four are also token roles.

export const ROOT = 0;
export const KEY = 1;
/** The value of a member, after its colon. */
export const MEMBER = 2;
export const ITEM = 3;
/** An item or a key right after its bracket. */
export const FIRST = 4;
export const COLON = 5;
/** After an ellipsis. */
export const DOTS = 6;
/** After a value in an object or array: a comma or the closing bracket is expected. */
export const AFTER = 7;
/** The root is finished. */
export const END = 8;
/** For the filler: any value, or something else. */
export const VALUE = 9;
export const OTHER = 10;

/** The kinds of backslashes in a string. */
export const ESCAPES = 11;
export const FORMULA = 12;
export const PATH = 13;

/** The role of a string or unquoted text. */
export type Role = typeof ROOT | typeof KEY | typeof MEMBER | typeof ITEM;
export type State = Role | typeof FIRST | typeof COLON | typeof DOTS | typeof AFTER | typeof END;
/** The token expected after filler: the root, the first one after the first bracket, another value, or something else. */
export type Due = typeof ROOT | typeof FIRST | typeof VALUE | typeof OTHER;
