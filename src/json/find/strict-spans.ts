import { BracketWalker } from './bracket-walker.js';
import { createSpan, type Span } from './spans.js';

const FENCED = /```([^]*?)```/g;
/** The language after an opening fence. Not part of `FENCED`, which would then not take linear time. */
const LANGUAGE = /^[ \t]*[\w+.-]*[ \t]*\n?/;
const CLOSED_THINK = /<think>[^]*?<\/think>/g;
const UP_TO_FIRST_FENCE = /^[^]*?```[ \t]*(?:json)?/i;

/** Profile `generic`: the text unchanged, then without its fence, then its first object. */
export function* findGenericSpans(text: string): Generator<Span> {
  yield createSpan('whole', 0, text.length, true);
  for (const match of text.matchAll(FENCED)) {
    const end = match.index + match[0].length - 3;
    yield createSpan('fence', end - (match[1] ?? '').replace(LANGUAGE, '').length, end);
  }
  yield* findFirstObject(text, 0, text.length);
}

/** Profile `unified`: closed `<think>` blocks are replaced by blanks, which keeps all offsets valid. */
export function blankThinking(text: string): string {
  // Without the text after the last closing tag, through which every unclosed tag would be searched.
  const end = text.lastIndexOf('</think>') + 8;
  return text.slice(0, end).replace(CLOSED_THINK, (thinking) => ' '.repeat(thinking.length)) + text.slice(end);
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
