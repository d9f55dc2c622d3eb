/**
 * Makes text from an agent safe for a terminal and for the eye: what would move the cursor, change colours or turn the
 * direction of writing is shown as a code instead. Line breaks and tabs stay.
 *
 * @example
 * visibleText('\u001b[2Jgone') // '␛[2Jgone'
 */
export function visibleText(text: string): string {
  return text.replaceAll(UNSAFE, showCharacter);
}

/** Control characters but tab and line feed, and what is invisible or turns the direction of writing. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const UNSAFE = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/g;

function showCharacter(character: string): string {
  const code = character.charCodeAt(0);
  // A carriage return before a line feed is only how some programs end a line; either way it must not move the cursor.
  if (code === 0x0d) return '';
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}
