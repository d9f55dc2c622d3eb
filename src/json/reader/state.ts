/** The token that the structure expects next, and the role of the token that begins here. */
export const ROOT = 0;
export const KEY = 1;
export const MEMBER = 2;
export const ITEM = 3;
/** An item or a key right after its bracket. */
export const FIRST = 4;
export const COLON = 5;
/** After an ellipsis. */
export const DOTS = 6;
/** After a value in its container. */
export const AFTER = 7;
/** The root is finished. */
export const END = 8;
/** For the filler: any value, or something else. */
export const VALUE = 9;
export const OTHER = 10;

/** The role of a string or unquoted text. */
export type Role = typeof ROOT | typeof KEY | typeof MEMBER | typeof ITEM;
export type State = Role | typeof FIRST | typeof COLON | typeof DOTS | typeof AFTER | typeof END;
/** The token expected after filler: the root, the first one after the first bracket, another value, or something else. */
export type Due = typeof ROOT | typeof FIRST | typeof VALUE | typeof OTHER;
