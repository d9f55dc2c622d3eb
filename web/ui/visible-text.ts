/** A stretch of a text: as it is, or a character that would act or hide, with what to show instead. */
export type Piece = string | { readonly shown: string; readonly name: string };

/**
 * Control characters but tab and line feed, the C1 range, soft hyphen, what is invisible or turns the direction of writing,
 * and tag characters: with any of these a text can look other than it is.
 */
const ACTING =
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/**
 * Cuts a text into what can be shown and what must be made visible. Terminal escapes come out as text: `␛[31m`.
 *
 * @example
 * makeVisible('a\u202eb') // ['a', { shown: 'U+202E', name: 'U+202E' }, 'b']
 */
export function makeVisible(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(ACTING)) {
    const [character] = match;
    // A carriage return before a line feed is the end of a line, nothing more.
    if (character === '\r' && text[match.index + 1] === '\n') continue;
    if (match.index > end) pieces.push(text.slice(end, match.index));
    pieces.push(pictureOf(character.codePointAt(0) ?? 0));
    end = match.index + character.length;
  }
  if (end < text.length) pieces.push(text.slice(end));
  return pieces;
}

/** The Control Pictures block has a sign for each of the first 32 and for delete. */
function pictureOf(code: number): Piece {
  const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  if (code < 0x20) return { shown: String.fromCodePoint(0x2400 + code), name };
  return { shown: code === 0x7f ? '\u2421' : name, name };
}
