import { INVISIBLE_CHARACTERS, formatInvisible } from '../base/index.js';

/**
 * Makes untrusted text safe for a terminal: characters that move the cursor, change colours, are invisible or reverse the
 * text direction are shown as symbols or code points. Line feeds and tabs are kept; carriage returns are removed.
 *
 * @example
 * makeVisible('\u001b[2Jgone') // '␛[2Jgone'
 */
export function makeVisible(text: string): string {
  return text.replaceAll(INVISIBLE_CHARACTERS, showCharacter);
}

function showCharacter(character: string): string {
  // Part of some line endings; on its own it would move the cursor.
  if (character === '\r') return '';
  const symbol = formatInvisible(character);
  return symbol.length === 1 ? symbol : `<${symbol}>`;
}

/** Formats a message as a line that starts with the name of the program. Untrusted text in the message is escaped. */
export function formatLine(message: string): string {
  return `sluice: ${makeVisible(message)}\n`;
}
