import { BracketWalker } from './bracket-walker.js';
import { createSpan, type Span } from './spans.js';

/**
 * A fence with its language. The language is matched in a look-ahead, which never backtracks, so the time is linear.
 */
const FENCED = /```(?=([ \t]*[\w+.-]*[ \t]*\n?))\1[^]*?```/g;
/** A think block. The first block without a closing tag extends to the end, so nothing is searched twice. */
const THINK = /<think>[^]*?(<\/think>|$)/g;
const UP_TO_FIRST_FENCE = /^[^]*?```[ \t]*(?:json)?/i;

/** Profile `generic`: the unchanged input, then without its fence, then its first object. */
export function* findGenericSpans(text: string): Generator<Span> {
  yield createSpan('whole', 0, text.length, true);
  for (const { index, 0: fence, 1: language = '' } of text.matchAll(FENCED))
    yield createSpan('fence', index + 3 + language.length, index + fence.length - 3);
  yield* findFirstObject(text, 0, text.length);
}

/** Profile `unified`: closed `<think>` blocks are replaced by blanks, which keeps all offsets valid. */
export function blankThinking(text: string): string {
  return text.replace(THINK, (thinking, close: string) => (close === '' ? thinking : ' '.repeat(thinking.length)));
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
  yield* findFirstObject(text, start, end);
}

function* findFirstObject(text: string, from: number, limit: number): Generator<Span> {
  const start = text.indexOf('{', from);
  const end = start === -1 ? -1 : new BracketWalker(text, start).findEnd(limit);
  if (end !== -1) yield createSpan('prose', start, end);
}
