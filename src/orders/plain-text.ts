import { INVISIBLE_CHARACTERS } from '../base/index.js';

/*
 * What a worker wrote is shown to people in comments, terminals and the inbox. Characters that change how the rest is
 * displayed are written out instead, as escapes: a forge would take `<U+202E>` for a tag.
 */

/** Text over several lines with everything in it visible. A longer one is truncated, with a note. */
export function showText(text: string, maxLength: number): string {
  const kept = cutText(text, maxLength);
  const shown = kept.replaceAll(/\r\n?/g, '\n').replaceAll(INVISIBLE_CHARACTERS, writeOut);
  return kept.length < text.length ? `${shown}… (${text.length - kept.length} more characters)` : shown;
}

/** The same on one line; a longer one ends in an ellipsis. */
export function showLine(text: string, maxLength: number): string {
  // White space is folded before the cut, so that a text of blanks does not use up the line.
  const line = text
    .slice(0, maxLength * 4)
    .replaceAll(/\s+/g, ' ')
    .trim();
  const kept = cutText(line, maxLength);
  return `${kept.replaceAll(INVISIBLE_CHARACTERS, writeOut)}${kept.length < line.length ? '…' : ''}`;
}

/** The beginning of a text; no character is cut in two. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splitsPair ? length - 1 : length);
}

function writeOut(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
