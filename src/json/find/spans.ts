import { BracketWalker, findNextBracket } from './bracket-walker.js';
import type { Region, Survey, TagBlock } from './survey.js';

/** The rule that found a candidate. */
export type FinderName = 'whole' | 'tag' | 'ndjson' | 'envelope' | 'fence' | 'prose';

/** A span of the input that might be the answer; offsets are in UTF-16 code units. */
export interface Candidate extends Region {
  readonly finder: FinderName;
}

/** A part of the input that might contain a value. Fences and prose show where it starts; the reader finds its end. */
export interface Span extends Candidate {
  /** A value read from it without repairs counts as unchanged: nothing had to be extracted. */
  readonly untouched: boolean;
  /** For a tag: where the block ends if its first closing tag is inside a string. */
  readonly lastClose?: number;
}

export function createSpan(finder: FinderName, start: number, end: number, untouched = false): Span {
  return { finder, untouched, start, end };
}

/** A line that might contain a value; a line that can only be part of a multi-line value, a fence or a conflict. */
const VALUE_LINE = /^\s*\{[^]*}\s*$/;
const INSIDE_LINE = /^\s*([}\]"]|```|={7}|[[{]\s*$)/;
/** A fence, its language tag and attributes, up to the value's opening bracket or a lone string. Bounded, to stay linear. */
const FENCED_VALUE =
  /(```|~~~)[ \t]{0,8}([\w+.-]{0,32}\s{0,256}|[^\n`]{0,200}\n\s{0,256})(?=[[{]|"([^"\\\n]|\\.){0,4096}"\s{0,9}(```|~~~))/g;
/**
 * Input that starts with a fence is read as the fence's content. Otherwise text after the fence would be added to a
 * truncated string.
 */
const FENCED_WHOLE = /^\s*(```|~~~)[\w+.-]*\s+[[{]/;
/**
 * Characters that can follow a value's opening bracket. Checked before anything is read, because prose contains many
 * brackets.
 */
const CAN_START =
  /\{\s{0,99}(["'“‘「«`,}/#\\>*]|[\p{L}\p{N}_$@][^\n:：{}]{0,99}[:：])|\[(?![ x]\] )\s{0,99}(["'“‘`{[\]\d,/#.\p{L}-])/uy;

/**
 * The start of a value, or of a fence around one. A mere mention of the tag does not match: `<json> tags are …`,
 * `"<json>" …`.
 */
const STARTS_LIKE_JSON = /^\s*([[{\d-]|["'“]\w|```|~~~|(true|false|null)\b)/;

/** Spans that are marked as the answer: the whole input without the thinking, a tag, an NDJSON line. */
export function* findMarkedSpans(text: string, { regions, blocks }: Survey, maxLines: number): Generator<Span> {
  const [onlyRegion] = regions;
  if (onlyRegion && regions.length === 1 && !FENCED_WHOLE.test(text.slice(onlyRegion.start, onlyRegion.end)))
    yield findWhole(text, onlyRegion);
  yield* findTags(text, { blocks });
  for (const line of findNdjsonLines(text, regions, maxLines)) yield createSpan('ndjson', line.start, line.end);
}

/** The whole input without the thinking and surrounding white space. Called only if the input is not valid JSON. */
function findWhole(text: string, { start, end }: Region): Span {
  const content = text.slice(start, end);
  if (content.length === text.length) return createSpan('whole', 0, end, true);
  const from = end - content.trimStart().length;
  return createSpan('whole', from, from + content.trim().length);
}

/**
 * Profile `tagged`: only the last block, even if it is truncated, broken or empty; a mere mention of the tag is not a
 * block.
 */
export function* findLastTag(text: string, { blocks }: Survey): Generator<Span> {
  const last = blocks.findLast((block) => !isMention(text, block)) ?? blocks.at(-1);
  if (last) yield createTagSpan(last, true);
}

/** Whether words before the tag on its line, and words or punctuation after it, show that it is part of a sentence. */
function isMention(text: string, { start, end }: TagBlock): boolean {
  const tag = text.lastIndexOf('<', start - 1);
  const before = text.slice(text.lastIndexOf('\n', tag) + 1, tag);
  const content = text.slice(start, end);
  const isEmpty = content.trim() === '' && /^($|<\/\w+>[ \t]*[\p{L}.,;:!?"'`)])/u.test(text.slice(end, end + 40));
  return (
    before.trim() !== '' &&
    !STARTS_LIKE_JSON.test(content) &&
    (isEmpty || /^(["'`)\].,;:!?]|[ \t]+\p{L})/u.test(content))
  );
}

/** All `<json>` blocks, last first. */
export function findTags(text: string, { blocks }: Pick<Survey, 'blocks'>): readonly Span[] {
  const isOnly = blocks.filter(({ start, end }) => STARTS_LIKE_JSON.test(text.slice(start, end))).length === 1;
  return blocks.toReversed().map((block) => createTagSpan(block, isOnly));
}

/** A closed block that needs no repair is exactly what the contract requires, so it does not count as extracted. */
function createTagSpan(block: TagBlock, isOnly: boolean): Span {
  return { ...block, finder: 'tag', untouched: isOnly && block.isClosed };
}

/**
 * The lines that contain one object each, last first, if the input is NDJSON: at least two such lines, possibly with log
 * lines between some of them. With words before each, the input is prose that shows several values.
 */
export function findNdjsonLines(text: string, regions: readonly Region[], maxLines: number): readonly Region[] {
  const lines: Region[] = [];
  let interruptions = 0;
  let isInterrupted = false;
  for (const region of regions.toReversed()) {
    let { end } = region;
    while (end > region.start && lines.length < maxLines) {
      const start = region.start + text.slice(region.start, end).lastIndexOf('\n') + 1;
      const line = text.slice(start, end);
      if (INSIDE_LINE.test(line)) return [];
      if (VALUE_LINE.test(line)) {
        if (isInterrupted) interruptions++;
        isInterrupted = false;
        lines.push({ start, end });
      } else if (line.trim() !== '') isInterrupted = lines.length > 0;
      end = start - 1;
    }
  }
  return lines.length > interruptions + 1 ? lines : [];
}

/**
 * The positions right after Markdown fences where values start, in order; the reader finds their ends. Every fence
 * outside a JSON string counts as an opening fence: a closing fence before another block is harmless.
 */
export function findFencedSpans(text: string, regions: readonly Region[]): readonly Span[] {
  return regions.flatMap(({ start, end }) => {
    const walker = new BracketWalker(text, start);
    return [...text.slice(start, end).matchAll(FENCED_VALUE)]
      .filter((match) => !walker.isInString(start + match.index))
      .map((match) => createSpan('fence', start + match.index + match[0].length, end));
  });
}

/**
 * The positions in running text where values might start, in order. For each, the caller passes the offset to continue
 * from: after the value, right after the bracket if it was not a value, or -1 if the rest of the region belongs to it.
 */
export function* findProseSpans(text: string, regions: readonly Region[]): Generator<Span, void, number> {
  for (const { start: from, end } of regions) {
    let start = findNextBracket(text, from, end);
    while (start !== -1) {
      CAN_START.lastIndex = start;
      const next = CAN_START.test(text) ? yield createSpan('prose', start, end) : start + 1;
      start = next === -1 ? -1 : findNextBracket(text, next, end);
    }
  }
}

/**
 * A fence with its language. The language is matched in a look-ahead, which never backtracks, so the time is linear.
 */
const FENCED = /```(?=([ \t]*[\w+.-]*[ \t]*\n?))\1[^]*?```/g;
const THINK = '<think>';
const THINK_END = '</think>';
const UP_TO_FIRST_FENCE = /^[^]*?```[ \t]*(json)?/i;

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
  if (first) yield first;
}

/** Limit on lone braces, because each is searched to the end of the text. */
const MAX_LONE_BRACES = 4;
/** An unclosed brace that starts an object: what is inside it is a part of truncated JSON. */
const STARTS_OBJECT = /\{\s*(["'}]|$|[\p{L}_$][\w$]{0,99}\s*:)/uy;

/** The outermost pairs of braces, in order. A lone brace in running text does not hide the objects after it. */
export function* findObjects(text: string, from: number, limit: number): Generator<Span> {
  let loneBraces = 0;
  for (let start = text.indexOf('{', from); start !== -1;) {
    const end = new BracketWalker(text, start).findEnd(limit);
    if (end === -1) {
      STARTS_OBJECT.lastIndex = start;
      if (STARTS_OBJECT.test(text) || ++loneBraces > MAX_LONE_BRACES) return;
    } else yield createSpan('prose', start, end);
    start = text.indexOf('{', end === -1 ? start + 1 : end);
  }
}
