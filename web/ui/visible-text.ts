import { UNSEEN_CHARACTERS, pictureOf } from '../../src/base/index.js';

/** A stretch of a text: as it is, or a character that would act or hide, with what to show instead. */
export type Piece = string | { readonly shown: string; readonly name: string };

/**
 * Cuts a text into what can be shown and what must be made visible. Terminal escapes come out as text: `␛[31m`.
 *
 * @example
 * makeVisible('a\u202eb') // ['a', { shown: 'U+202E', name: 'U+202E' }, 'b']
 */
export function makeVisible(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(UNSEEN_CHARACTERS)) {
    const [character] = match;
    // A carriage return before a line feed is the end of a line, nothing more.
    if (character === '\r' && text[match.index + 1] === '\n') continue;
    if (match.index > end) pieces.push(text.slice(end, match.index));
    pieces.push({ shown: pictureOf(character), name: nameOf(character) });
    end = match.index + character.length;
  }
  if (end < text.length) pieces.push(text.slice(end));
  return pieces;
}

function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
