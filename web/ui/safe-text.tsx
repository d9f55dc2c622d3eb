import { useState } from 'preact/hooks';
import { formatCount } from './amount.js';
import { INVISIBLE_CHARACTERS, formatInvisible } from '../../src/base/index.js';

/** Longer content is truncated, with a button for more: a page does not scroll well with megabytes in one element. */
const MAX_SHOWN_LENGTH = 20_000;

/**
 * Shows text from an agent. Invisible and direction-changing characters are made visible, and nothing is interpreted as
 * HTML.
 */
export function SafeText({ text, limit = MAX_SHOWN_LENGTH }: { readonly text: string; readonly limit?: number }) {
  // Only long text needs a stateful component: most text is short, and its rows are created by the dozen.
  return <bdi class="safe">{text.length > limit ? <LongText text={text} limit={limit} /> : <Shown text={text} />}</bdi>;
}

function LongText({ text, limit }: { readonly text: string; readonly limit: number }) {
  const [shown, setShown] = useState(limit);
  if (text.length <= shown) return <Shown text={text} />;
  return (
    <>
      <Shown text={text.slice(0, shown)} />
      <button type="button" class="link" onClick={() => setShown(shown * 4)}>
        … {formatCount(text.length - shown)} more characters
      </button>
    </>
  );
}

function Shown({ text }: { readonly text: string }) {
  return (
    <>
      {makeVisible(text).map((piece, index) =>
        typeof piece === 'string' ? (
          piece
        ) : (
          <span key={index} class="acting" title={piece.name}>
            {piece.shown}
          </span>
        ),
      )}
    </>
  );
}

/** A fragment: unchanged text, or a visible replacement for an invisible or direction-changing character. */
type Piece = string | { readonly shown: string; readonly name: string };

/**
 * Splits a string into displayable text and characters that must be made visible. Terminal escapes become text: `␛[31m`.
 *
 * @example
 * makeVisible('a\u202eb') // ['a', { shown: 'U+202E', name: 'U+202E' }, 'b']
 */
export function makeVisible(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(INVISIBLE_CHARACTERS)) {
    const [character] = match;
    // A carriage return before a line feed is an ordinary line ending.
    if (character === '\r' && text[match.index + 1] === '\n') continue;
    if (match.index > end) pieces.push(text.slice(end, match.index));
    pieces.push({ shown: formatInvisible(character), name: nameCharacter(character) });
    end = match.index + character.length;
  }
  if (end < text.length) pieces.push(text.slice(end));
  return pieces;
}

function nameCharacter(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
