import { useState } from 'preact/hooks';
import { Button } from './button.js';
import { formatCount } from './format.js';
import { INVISIBLE_CHARACTERS, formatInvisible } from '../../src/base/index.js';
import { t } from '../app/texts.js';

/** Longer content is truncated, with a button for more: a page does not scroll well with megabytes in one element. */
const MAX_INITIAL_LENGTH = 20_000;

interface SafeTextProps {
  readonly text: string;
  readonly limit?: number;
  readonly as?: 'code' | 'p' | 'pre' | 'span' | 'strong' | undefined;
  readonly class?: string;
}

/** Shows text from an agent. Invisible and direction-changing characters are made visible; nothing becomes HTML. */
export function SafeText({ text, limit = MAX_INITIAL_LENGTH, as: Around, class: classes }: SafeTextProps) {
  // Only long text needs a stateful component: most text is short, and its rows are created by the dozen.
  const shown = text.length > limit ? <LongText text={text} limit={limit} /> : <Shown text={text} />;
  const safe = <bdi class="safe">{shown}</bdi>;
  return Around === undefined ? safe : <Around class={classes}>{safe}</Around>;
}

function LongText({ text, limit }: Readonly<{ text: string; limit: number }>) {
  const [shown, setShown] = useState(limit);
  if (text.length <= shown) return <Shown text={text} />;
  return (
    <>
      <Shown text={text.slice(0, shown)} />
      <MoreCharacters count={text.length - shown} onClick={() => setShown(shown * 4)} />
    </>
  );
}

export function MoreCharacters({ count, onClick }: Readonly<{ count: number; onClick: () => void }>) {
  return <Button label={t.moreCharacters(formatCount(count))} class="link" onClick={onClick} />;
}

function Shown({ text }: Readonly<{ text: string }>) {
  return (
    <>
      {makeVisible(text).map((fragment, index) =>
        typeof fragment === 'string' ? (
          fragment
        ) : (
          <span key={index} class="acting" title={fragment.name}>
            {fragment.shown}
          </span>
        ),
      )}
    </>
  );
}

/** A fragment: unchanged text, or a visible replacement for an invisible or direction-changing character. */
type TextFragment = string | Readonly<{ shown: string; name: string }>;

/** Splits text into displayable parts and characters that must be made visible: an escape becomes `␛[31m`. */
export function makeVisible(text: string): readonly TextFragment[] {
  const fragments: TextFragment[] = [];
  let end = 0;
  for (const match of text.matchAll(INVISIBLE_CHARACTERS)) {
    const [character] = match;
    // A carriage return before a line feed is an ordinary line ending.
    if (character === '\r' && text[match.index + 1] === '\n') continue;
    if (match.index > end) fragments.push(text.slice(end, match.index));
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    fragments.push({ shown: formatInvisible(character), name: `U+${code}` });
    end = match.index + character.length;
  }
  if (end < text.length) fragments.push(text.slice(end));
  return fragments;
}
