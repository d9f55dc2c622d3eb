import { BracketWalker, findNextBracket } from './bracket-walker.js';
import type { Region, Survey, TagBlock } from './survey.js';

/** The rule that found a candidate. */
export type FinderName = 'whole' | 'tag' | 'ndjson' | 'envelope' | 'fence' | 'prose';

/** A span of the text that may be the answer; offsets count the UTF-16 units of the input. */
export interface Candidate extends Region {
  readonly finder: FinderName;
}

/** A part of the text that may contain a value. Fences and prose show where it begins; the reader finds its end. */
export interface Span extends Candidate {
  /** A value read from it without repairs counts as unchanged: nothing had to be cut out. */
  readonly untouched: boolean;
  /** For a tag: where the block ends if its first closing tag is inside a string. */
  readonly lastClose?: number;
}

export function createSpan(finder: FinderName, start: number, end: number, untouched = false): Span {
  return { finder, untouched, start, end };
}

/** A line that may contain a value; one that can only be part of a value over several lines, or of a fence; a heading or a label. */
const VALUE_LINE = /^\s*(?:\{[^]*}|\[[^]*])\s*$/;
const INSIDE_LINE = /^\s*(?:[}\]"]|```|[[{]\s*$)/;
const LABEL_LINE = /^\s*(?:#|\*\*)|:\s*$/;
/** A fence, its language word and attributes, up to the bracket the value begins with. Bounded, to stay linear. */
const FENCED_VALUE = /(?:```|~~~)[ \t]{0,8}(?:[\w+.-]{0,32}\s{0,256}|[^\n`]{0,200}\n\s{0,256})(?=[[{])/g;
/** A text that begins with a fence is read as the fence's content: otherwise text after the fence would be added to a truncated string. */
const FENCED_WHOLE = /^\s*(?:```|~~~)[\w+.-]*\s+[[{]/;
/** Characters that may follow the opening bracket of a value: checked before anything is read, because prose contains many brackets. */
const MAY_BEGIN =
  /\{\s{0,99}(?:["'“‘「«`,}/#\\>*]|[\p{L}\p{N}_$@][^\n:：{}]{0,99}[:：])|\[\s{0,99}(?:["'“‘`{[\]\d,/#.\p{L}-])/uy;

/** The beginning of a value, or of a fence around one. Text that only mentions the tag does not match: `<json> tags are …`, `"<json>" …`. */
const BEGINS_LIKE_JSON = /^\s*(?:[[{\d-]|["'“]\w|```|~~~|(?:true|false|null)\b)/;

/** Spans that are marked as the answer: the whole text without the thinking, a tag, a line of NDJSON. */
export function* findMarkedSpans(text: string, { regions, blocks }: Survey, maxLines: number): Generator<Span> {
  const [only] = regions;
  if (only !== undefined && regions.length === 1 && !FENCED_WHOLE.test(text.slice(only.start, only.end)))
    yield findWhole(text, only);
  const isOnly = findAnswers(text, blocks).length === 1;
  for (const block of blocks.toReversed()) yield createTagSpan(block, isOnly);
  for (const line of findNdjsonLines(text, regions, maxLines)) yield createSpan('ndjson', line.start, line.end);
}

/** The whole text without the thinking and the white space around it. Called only if the text is not valid JSON. */
function findWhole(text: string, { start, end }: Region): Span {
  const content = text.slice(start, end);
  if (content.length === text.length) return createSpan('whole', 0, end, true);
  const from = end - content.trimStart().length;
  return createSpan('whole', from, from + content.trim().length);
}

/**
 * Profile `tagged`: only the last block that begins like JSON, even if it is truncated. Blocks after it are skipped: their tags are
 * only mentioned. If no block begins like JSON, the last one.
 */
export function* findLastTag(text: string, { blocks }: Survey): Generator<Span> {
  const last = findAnswers(text, blocks).at(-1) ?? blocks.at(-1);
  if (last !== undefined) yield createTagSpan(last, true);
}

/** The blocks that begin like JSON. */
function findAnswers(text: string, blocks: readonly TagBlock[]): readonly TagBlock[] {
  return blocks.filter(({ start, end }) => BEGINS_LIKE_JSON.test(text.slice(start, end)));
}

/** A closed block that needs no repair is the form the contract requires, so it does not count as extracted. */
function createTagSpan(block: TagBlock, isOnly: boolean): Span {
  return { ...block, finder: 'tag', untouched: isOnly && block.isClosed };
}

/**
 * The lines that contain one JSON value each, last first, if the text is NDJSON: at least two such lines, log lines between
 * them allowed. If there is a heading or a label for each of them, the text is prose that shows several values.
 */
export function findNdjsonLines(text: string, regions: readonly Region[], maxLines: number): readonly Region[] {
  const lines: Region[] = [];
  let labels = 0;
  for (const region of regions.toReversed()) {
    let { end } = region;
    while (end > region.start && lines.length < maxLines) {
      const start = region.start + text.slice(region.start, end).lastIndexOf('\n') + 1;
      const line = text.slice(start, end);
      if (INSIDE_LINE.test(line)) return [];
      if (VALUE_LINE.test(line)) lines.push({ start, end });
      else if (LABEL_LINE.test(line)) labels++;
      end = start - 1;
    }
  }
  return lines.length > 1 && lines.length > labels ? lines : [];
}

/**
 * The positions right after Markdown fences where values begin, in order; the reader finds their ends. Every fence outside a JSON
 * string counts as an opening one: a closing fence before another block is harmless.
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
 * The positions in running text where values may begin, in order. For each, the caller passes the offset to continue from: after the
 * value or, if it was not one, right after its bracket; -1 if the rest of the region belongs to it.
 */
export function* findProseSpans(text: string, regions: readonly Region[]): Generator<Span, void, number> {
  for (const { start: from, end } of regions) {
    let start = findNextBracket(text, from, end);
    while (start !== -1) {
      MAY_BEGIN.lastIndex = start;
      const next = MAY_BEGIN.test(text) ? yield createSpan('prose', start, end) : start + 1;
      start = next === -1 ? -1 : findNextBracket(text, next, end);
    }
  }
}
