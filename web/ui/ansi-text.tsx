import { useState } from 'preact/hooks';
import { formatCount } from './amount.js';
import { readStyles } from './ansi.js';
import { SafeText } from './safe-text.js';
import './ansi-text.css';

/** Command output with its colours; all other terminal escapes have no effect. */
export function AnsiText({ text, limit = 2000 }: { readonly text: string; readonly limit?: number }) {
  const [shown, setShown] = useState(limit);
  return (
    <>
      {readStyles(text.slice(0, shown)).map(({ text: piece, style }, index) =>
        style === '' ? (
          <SafeText key={index} text={piece} limit={shown} />
        ) : (
          <span key={index} class={style}>
            <SafeText text={piece} limit={shown} />
          </span>
        ),
      )}
      {text.length > shown ? (
        <button type="button" class="link" onClick={() => setShown(shown * 4)}>
          … {formatCount(text.length - shown)} more characters
        </button>
      ) : null}
    </>
  );
}
