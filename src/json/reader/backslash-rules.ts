import { MAX_LOOKAHEAD } from '../bounds.js';

// What a backslash in a string can mean: an escape of JSON or of another language, of Markdown, a LaTeX command, a path.

/** The letters of JSON's escapes, and their characters in the same order. */
export const ESCAPE_LETTERS = '"\\/bfnrt';
export const ESCAPED = '"\\/\b\f\n\r\t';
export const CODE_ESCAPE = /\\(?:u([\da-f]{4})|x([\da-f]{2})|u\{([\da-f]{1,5}|10[\da-f]{4})\})/iy;
export const CUT_ESCAPE = /\\(?:u[\da-f]{0,3}|x[\da-f]?|u\{[\da-f]{0,6})?$/iy;
/** An escaped escape in a string whose quotes are escaped. */
export const ESCAPED_ESCAPE = /\\\\?(?=\\[^])/y;
/** `\\server\share` without any escapes: one backslash after the name shows that the two before it are literal. */
export const NETWORK_PATH = /\\\\[\w.-]{1,256}(?:\\[\w$]|$)/y;
/** A backslash before a letter that is not a JSON escape. */
export const UNKNOWN_ESCAPE = /(?<!\\)(?:\\\\)*\\(?![bfnrt]|u[\da-fA-F]{4})[A-Za-z]/;
/** Text in which every backslash escapes a character of Markdown or a line break, a tab or a quote. */
export const MARKDOWN_ESCAPES = /^(?:[^\\]|\\[_*#nrt"])*\\?$/;
/** `snake\_case`, but not in a file name; `\#1`, `\# Title`; `\*emphasis\*`, but not in `src\*.ts`. */
export const MARKDOWN_ESCAPE =
  /(?<=\w)\\_(?=\w)(?![^\s"]{0,50}(?:\.\w|\/|\\[^_nrt"]))|(?<![^\s("'])\\(?:#(?=[\s\d])|\*(?=\w[^*\\"]{0,50}\\\*))|(?<=(?<![^\s("'])\\\*\w[^*\\"]{0,50})\\\*/y;
/** LaTeX commands that start like a JSON escape. */
export const LATEX_COMMAND =
  /\\(?:[bf][a-z]|n(?:abla|e[gq]?\b|ot(?:in)?\b|u\b)|r(?:ho|ight|angle|ceil|floor)|t(?:anh?|au|ext\w*|[fb]frac|frac|heta|ilde|imes|op?|riangle)\b)/;
export const STICKY_COMMAND = new RegExp(LATEX_COMMAND, 'y');
export const HEX_ESCAPE = /\\u[\da-f]{4}/iy;
export const REST_OF_WORD = new RegExp(`(?:\\\\[^]|[^\\\\\\s"]){0,${MAX_LOOKAHEAD}}`, 'y');
/** An unknown escape that is a LaTeX command, not a character class of a regular expression. */
export const COMMAND_NAME = /\\(?:[A-Za-z]{2}|\()/y;
/** A path after a drive letter inside a sentence, where `\n` is part of a name only before a lowercase letter. */
export const PATH_IN_SENTENCE = /(?:\\[^\s\\"]{1,256}){1,64}/y;
export const DRIVE = /(?<![^\s"'`(=])[a-z]:$/i;
