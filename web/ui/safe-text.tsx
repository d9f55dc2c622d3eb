import { useState } from 'preact/hooks';
import { amountOf } from './amount.js';
import { makeVisible } from './visible-text.js';

/** More than this is shown when asked for: a page with megabytes of text in one element does not scroll. */
const MOST_SHOWN = 20_000;

/** A text of an agent: nothing in it acts, hides or turns the direction of writing, and nothing of it is HTML. */
export function SafeText({ text, limit = MOST_SHOWN }: { readonly text: string; readonly limit?: number }) {
  // Most texts are short and stand in rows that come and go by the dozen: those keep no state.
  return <bdi class="safe">{text.length > limit ? <LongText text={text} limit={limit} /> : <Shown text={text} />}</bdi>;
}

function LongText({ text, limit }: { readonly text: string; readonly limit: number }) {
  const [shown, setShown] = useState(limit);
  if (text.length <= shown) return <Shown text={text} />;
  return (
    <>
      <Shown text={text.slice(0, shown)} />
      <button type="button" class="link" onClick={() => setShown(shown * 4)}>
        … {amountOf(text.length - shown)} characters more
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
