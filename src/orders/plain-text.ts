import { INVISIBLE_CHARACTERS, cutText } from '../base/index.js';

/*
 * Text from agents is displayed in comments, terminals and the inbox. Characters that change how the rest is displayed
 * are replaced by escapes such as `\u{202e}`: a forge would treat `<U+202E>` as a tag.
 */

/** Escapes invisible characters. Text that is too long is truncated, with a note. */
export function showText(text: string, maxLength: number): string {
  const truncated = cutText(text, maxLength);
  const escaped = truncated.replaceAll(/\r\n?/g, '\n').replaceAll(INVISIBLE_CHARACTERS, escapeCharacter);
  return truncated.length < text.length ? `${escaped}… (${text.length - truncated.length} more characters)` : escaped;
}

/** Puts text on one line and escapes its invisible characters. Text that is too long ends in an ellipsis. */
export function showLine(text: string, maxLength: number): string {
  // Whitespace is collapsed before the text is truncated, so it does not use up the line.
  const start = cutText(text, maxLength * 4);
  const line = start.replaceAll(/\s+/g, ' ').trim();
  const truncated = cutText(line, maxLength);
  const isTruncated = truncated.length < line.length || text.slice(start.length).trim() !== '';
  return `${truncated.replaceAll(INVISIBLE_CHARACTERS, escapeCharacter)}${isTruncated ? '…' : ''}`;
}

/** Lists the first names on one line, and the number of the others. */
export function showNames(names: readonly string[], maxCount: number, maxLength: number): string {
  const first = names.slice(0, maxCount).map((name) => showLine(name, maxLength));
  const others = names.length > maxCount ? ` and ${names.length - maxCount} more` : '';
  return `${first.join(', ')}${others}`;
}

/** Removes the full stop at the end of a message, so it can be embedded in a sentence. */
export function dropFullStop(message: string): string {
  let end = message.length;
  while (end > 0 && /[.\s]/.test(message.charAt(end - 1))) end -= 1;
  return message.slice(0, end);
}

function escapeCharacter(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
