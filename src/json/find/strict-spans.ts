import { BracketWalker } from './bracket-walker.js';
import { createSpan, type Span } from './spans.js';

/**
 * A fence with its language. The language is matched in a look-ahead, which never backtracks, so the time is linear.
 */
const FENCED = /```(?=([ \t]*[\w+.-]*[ \t]*\n?))\1[^]*?```/g;
const THINK = '<think>';
const THINK_END = '</think>';
const UP_TO_FIRST_FENCE = /^[^]*?```[ \t]*(?:json)?/i;

/** Profile `generic`: the unchanged input, then without its fence. */
export function* findGenericSpans(text: string): Generator<Span> {
  yield createSpan('whole', 0, text.length, true);
  for (const { index, 0: fence, 1: language = '' } of text.matchAll(FENCED))
    yield createSpan('fence', index + 3 + language.length, index + fence.length - 3);
}

/**
 * Profile `unified`: closed `<think>` blocks are replaced by blanks, which keeps all offsets valid. A tag inside a JSON
 * string is content.
 */
export function blankThinking(text: string): string {
  let visible = '';
  let from = 0;
  let walker = new BracketWalker(text);
  for (let at = text.indexOf(THINK); at !== -1; at = text.indexOf(THINK, at + THINK.length)) {
    if (at < from || walker.isInString(at)) continue;
    const close = text.indexOf(THINK_END, at);
    if (close === -1) break;
    const end = close + THINK_END.length;
    visible += text.slice(from, at) + ' '.repeat(end - at);
    from = end;
    walker = new BracketWalker(text, end);
  }
  return visible + text.slice(from);
}

/**
 * Profile `unified`: the text between the first and the last fence, read with control characters escaped; if that fails,
 * from the first `{` to its closing bracket.
 */
export function* findUnifiedSpans(text: string): Generator<Span> {
  const close = text.lastIndexOf('```');
  const open = UP_TO_FIRST_FENCE.exec(text)?.[0].length ?? 0;
  const [start, end] = close >= open && open > 0 ? [open, close] : [0, text.length];
  yield createSpan(start === 0 ? 'whole' : 'fence', start, end);
  const [first] = findObjects(text, start, end);
  if (first !== undefined) yield first;
}

/** The outermost pairs of braces, in order. */
export function* findObjects(text: string, from: number, limit: number): Generator<Span> {
  for (let start = text.indexOf('{', from); start !== -1;) {
    const end = new BracketWalker(text, start).findEnd(limit);
    if (end === -1) return;
    yield createSpan('prose', start, end);
    start = text.indexOf('{', end);
  }
}
