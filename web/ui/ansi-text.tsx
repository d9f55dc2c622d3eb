import { useState } from 'preact/hooks';
import { MoreCharacters, SafeText } from './text.js';
import './ansi-text.css';

/** Command output with its colours; all other terminal escapes have no effect. */
export function AnsiText({ text, limit = 2000 }: Readonly<{ text: string; limit?: number }>) {
  const [shown, setShown] = useState(limit);
  return (
    <>
      {readStyles(text.slice(0, shown)).map(({ text: piece, style }, index) => (
        <SafeText key={index} as={style === '' ? undefined : 'span'} class={style} text={piece} limit={shown} />
      ))}
      {text.length > shown ? <MoreCharacters count={text.length - shown} onClick={() => setShown(shown * 4)} /> : null}
    </>
  );
}

type StyledText = Readonly<{ text: string; style: string }>;

/** Escapes for styles (SGR) and for erasing a line: they change how text looks, not what it contains. */
// oxlint-disable-next-line no-control-regex
const STYLES = /\u001b\[(?<codes>[0-9;:]{0,64})(?<end>[mK])/g;

/** The maximum number of styled runs: malicious output could change its colour with every character. */
const MAX_STYLED_RUNS = 2000;

/** Splits output into runs of one style. All other escapes stay visible: cursor movements could disguise the output. */
export function readStyles(text: string): readonly StyledText[] {
  if (!text.includes('\u001B')) return text === '' ? [] : [{ text, style: '' }];
  const styledRuns: StyledText[] = [];
  let style: Style = PLAIN;
  let end = 0;
  for (const match of text.matchAll(STYLES)) {
    if (match.index > end) styledRuns.push({ text: text.slice(end, match.index), style: getStyleClasses(style) });
    end = match.index + match[0].length;
    if (match.groups?.['end'] === 'm') style = applyCodes(style, match.groups['codes'] ?? '');
    if (styledRuns.length >= MAX_STYLED_RUNS) break;
  }
  const remaining = text.slice(end);
  if (remaining !== '') styledRuns.push({ text: remaining.replaceAll(STYLES, ''), style: getStyleClasses(style) });
  return styledRuns;
}

interface Style {
  /** From 0 to 15; null for the page's default colour. */
  readonly colour: number | null;
  readonly marks: readonly Mark[];
}

const MARKS = ['bold', 'dim', 'italic', 'underlined'] as const;
type Mark = (typeof MARKS)[number];

const REMOVED: Readonly<Record<number, readonly Mark[]>> = { 22: ['bold', 'dim'], 23: ['italic'], 24: ['underlined'] };
const PLAIN: Style = { colour: null, marks: [] };

function getStyleClasses({ colour, marks }: Style): string {
  const names = MARKS.filter((mark) => marks.includes(mark));
  return [...(colour === null ? [] : [colour % 8]), ...names].map((name) => `ansi-${name}`).join(' ');
}

function applyCodes(before: Style, codes: string): Style {
  let style = before;
  const numbers = codes.split(/[;:]/).map(Number);
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at] ?? 0;
    if (code === 38 || code === 48) {
      // Only the first sixteen of the 256 colours are supported; others leave the colour unchanged.
      const [kind, value = 0] = numbers.slice(at + 1);
      if (code === 38 && kind === 5) style = { ...style, colour: value < 16 ? value : style.colour };
      at += kind === 5 ? 2 : 4;
    } else style = applyCode(style, code);
  }
  return style;
}

function applyCode(style: Style, code: number): Style {
  if (code >= 30 && code <= 37) return { ...style, colour: code - 30 };
  if (code >= 90 && code <= 97) return { ...style, colour: code - 90 + 8 };
  const mark = MARKS[code - 1];
  if (mark !== undefined) return { ...style, marks: [...style.marks.filter((one) => one !== mark), mark] };
  if (code === 0) return PLAIN;
  if (code === 39) return { ...style, colour: null };
  return { ...style, marks: style.marks.filter((one) => REMOVED[code]?.includes(one) !== true) };
}
