import { useSignal } from '@preact/signals';
import { makeVisible } from './visible-text.js';

/** More than this is shown when asked for: a page with megabytes of text in one element does not scroll. */
const MOST_SHOWN = 20_000;

/** A text of an agent: nothing in it acts, hides or turns the direction of writing, and nothing of it is HTML. */
export function SafeText({ text, limit = MOST_SHOWN }: { readonly text: string; readonly limit?: number }) {
  const shown = useSignal(limit);
  const cut = text.length > shown.value;
  return (
    <bdi class="safe">
      {makeVisible(cut ? text.slice(0, shown.value) : text).map((piece, index) =>
        typeof piece === 'string' ? (
          piece
        ) : (
          <span key={index} class="acting" title={piece.name}>
            {piece.shown}
          </span>
        ),
      )}
      {cut ? (
        <button type="button" class="link" onClick={() => (shown.value = shown.value * 4)}>
          … {(text.length - shown.value).toLocaleString('en')} characters more
        </button>
      ) : null}
    </bdi>
  );
}
