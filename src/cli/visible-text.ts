import { UNSEEN_CHARACTERS, pictureOf } from '../base/index.js';

/**
 * Makes text from an agent safe for a terminal and for the eye: what would move the cursor, change colours, hide or turn
 * the direction of writing is shown as a code instead. Line breaks and tabs stay.
 *
 * @example
 * visibleText('\u001b[2Jgone') // '␛[2Jgone'
 */
export function visibleText(text: string): string {
  return text.replaceAll(UNSEEN_CHARACTERS, showCharacter);
}

function showCharacter(character: string): string {
  // A carriage return before a line feed is only how some programs end a line; either way it must not move the cursor.
  if (character === '\r') return '';
  const picture = pictureOf(character);
  return picture.length === 1 ? picture : `<${picture}>`;
}
