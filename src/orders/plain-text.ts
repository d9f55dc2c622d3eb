import { INVISIBLE_CHARACTERS, cutText } from '../base/index.js';

/*
 * Text from agents is shown to people in comments, terminals and the inbox. Characters that change how the rest is
 * displayed are replaced by escapes such as `\u{202e}`: a forge would treat `<U+202E>` as a tag.
 */

/** Escapes the invisible characters of a text. A text that is too long is truncated, with a note. */
export function showText(text: string, maxLength: number): string {
  const beginning = cutText(text, maxLength);
  const shown = beginning.replaceAll(/\r\n?/g, '\n').replaceAll(INVISIBLE_CHARACTERS, escapeCharacter);
  return beginning.length < text.length ? `${shown}… (${text.length - beginning.length} more characters)` : shown;
}

/** Puts a text on one line and escapes its invisible characters. A text that is too long ends in an ellipsis. */
export function showLine(text: string, maxLength: number): string {
  // White space is folded before the text is truncated, so that blanks do not use up the line.
  const start = cutText(text, maxLength * 4);
  const line = start.replaceAll(/\s+/g, ' ').trim();
  const beginning = cutText(line, maxLength);
  const isTruncated = beginning.length < line.length || text.slice(start.length).trim() !== '';
  return `${beginning.replaceAll(INVISIBLE_CHARACTERS, escapeCharacter)}${isTruncated ? '…' : ''}`;
}

/** Removes the full stop at the end of a message, so that it can be part of a sentence. */
export function dropFullStop(message: string): string {
  let end = message.length;
  while (end > 0 && /[.\s]/.test(message.charAt(end - 1))) end -= 1;
  return message.slice(0, end);
}

function escapeCharacter(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
