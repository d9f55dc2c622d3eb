import { INVISIBLE_CHARACTERS, formatInvisible } from '../base/index.js';

/**
 * Makes untrusted text safe for a terminal: characters that move the cursor, change colours, are invisible or reverse the
 * text direction are shown as codes. Line breaks and tabs stay.
 *
 * @example
 * visibleText('\u001b[2Jgone') // '␛[2Jgone'
 */
export function visibleText(text: string): string {
  return text.replaceAll(INVISIBLE_CHARACTERS, showCharacter);
}

function showCharacter(character: string): string {
  // Part of some line endings; alone it would move the cursor.
  if (character === '\r') return '';
  const picture = formatInvisible(character);
  return picture.length === 1 ? picture : `<${picture}>`;
}

/** A message line with the name of the program. It may quote untrusted text, so it is made visible. */
export function formatLine(message: string): string {
  return `sluice: ${visibleText(message)}\n`;
}
