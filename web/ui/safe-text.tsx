import { useState } from 'preact/hooks';
import { formatCount } from './amount.js';
import { INVISIBLE_CHARACTERS, formatInvisible } from '../../src/base/index.js';

/** More than this is shown when asked for: a page with megabytes of text in one element does not scroll. */
const MAX_SHOWN_LENGTH = 20_000;

/** A text of an agent: nothing in it acts, hides or turns the direction of writing, and nothing of it is HTML. */
export function SafeText({ text, limit = MAX_SHOWN_LENGTH }: { readonly text: string; readonly limit?: number }) {
  // Most texts are short and in rows that are created by the dozen: those keep no state.
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

/** A stretch of a text: as it is, or a character that would act or hide, with what to show instead. */
type Piece = string | { readonly shown: string; readonly name: string };

/**
 * Cuts a text into what can be shown and what must be made visible. Terminal escapes come out as text: `␛[31m`.
 *
 * @example
 * makeVisible('a\u202eb') // ['a', { shown: 'U+202E', name: 'U+202E' }, 'b']
 */
export function makeVisible(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(INVISIBLE_CHARACTERS)) {
    const [character] = match;
    // A carriage return before a line feed is the end of a line, nothing more.
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
