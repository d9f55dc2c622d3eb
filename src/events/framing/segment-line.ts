import type { FrameProblem } from './frame.js';

/** The maximum depth of a value: deeper values would break consumers with a recursive serializer. */
const MAX_DEPTH = 1000;

/** The result of a scan. `end` is the position after the value. */
type Scan =
  | { readonly kind: 'complete'; readonly end: number }
  | { readonly kind: 'open' }
  | { readonly kind: 'broken'; readonly tooDeep: boolean };

const OPEN: Scan = { kind: 'open' };
const BROKEN: Scan = { kind: 'broken', tooDeep: false };
const TOO_DEEP: Scan = { kind: 'broken', tooDeep: true };

/** The syntax expected next, outside of strings. */
type Expect = 'container' | 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end';

/** Outside of strings: blanks, a number or literal, a quote or punctuation. */
const TOKEN = /[ \n\r\t]+|[-0-9tfn][-+.0-9Ea-z]*|["{}[\]:,]/y;
/** In a string: its end, or an escape. */
const STRING_MARK = /["\\]/g;
const ESCAPED = '"\\/bfnrtu';

/**
 * Scans one JSON object or array over any number of lines. It stops at the first character that makes the value
 * invalid, so an incomplete value does not swallow the lines after it. Strings can contain line breaks. Numbers and
 * literals are only distinguished from punctuation; the parser checks them.
 */
export class JsonScanner {
  readonly #containers: string[] = [];
  #expect: Expect = 'container';
  /** Whether the scan stopped inside a string: the next line would continue it. */
  inString = false;
  #isKey = false;
  #afterBackslash = false;

  /** Continues the scan from a position. Call it again with the next line, or its line end, while the result is `open`. */
  scan(text: string, start: number): Scan {
    for (let index = start; index < text.length;) {
      if (this.#afterBackslash) {
        if (!ESCAPED.includes(text.charAt(index))) return BROKEN;
        this.#afterBackslash = false;
        index += 1;
      } else if (this.inString) {
        STRING_MARK.lastIndex = index;
        if (!STRING_MARK.test(text)) return OPEN;
        index = STRING_MARK.lastIndex;
        this.#afterBackslash = text[index - 1] === '\\';
        if (this.#afterBackslash) continue;
        this.inString = false;
        this.#expect = this.#isKey ? 'colon' : 'comma-or-end';
      } else {
        TOKEN.lastIndex = index;
        if (!TOKEN.test(text) || !this.#readToken(text.charAt(index))) return BROKEN;
        index = TOKEN.lastIndex;
        if (this.#containers.length === 0) return { kind: 'complete', end: index };
        if (this.#containers.length > MAX_DEPTH) return TOO_DEEP;
      }
    }
    return OPEN;
  }

  /** Reads a token, given its first character; false if it is not expected. */
  #readToken(char: string): boolean {
    const expect = this.#expect;
    const expectsValue = expect === 'value' || expect === 'value-or-end';
    switch (char) {
      case ' ':
      case '\n':
      case '\r':
      case '\t':
        return true;
      case '"':
        this.inString = true;
        this.#isKey = !expectsValue;
        return expectsValue || expect === 'key' || expect === 'key-or-end';
      case '{':
      case '[':
        this.#containers.push(char);
        this.#expect = char === '{' ? 'key-or-end' : 'value-or-end';
        return expectsValue || expect === 'container';
      case '}':
        this.#expect = 'comma-or-end';
        return this.#containers.pop() === '{' && (expect === 'comma-or-end' || expect === 'key-or-end');
      case ']':
        this.#expect = 'comma-or-end';
        return this.#containers.pop() === '[' && (expect === 'comma-or-end' || expect === 'value-or-end');
      case ':':
        this.#expect = 'value';
        return expect === 'colon';
      case ',':
        this.#expect = this.#containers.at(-1) === '{' ? 'key' : 'value';
        return expect === 'comma-or-end';
      default:
        this.#expect = 'comma-or-end';
        return expectsValue;
    }
  }
}

/** A part of a line, by positions in its plain text. */
type Segment =
  | {
      readonly kind: 'json';
      readonly start: number;
      readonly end: number;
      readonly text: string;
      readonly value: object;
    }
  | { readonly kind: 'text'; readonly start: number; readonly end: number; readonly problem: FrameProblem | null };

/** A line split into parts without gaps. `open` is the part with a value that does not end on this line. */
interface SegmentedLine {
  readonly segments: readonly Segment[];
  readonly open: { readonly start: number; readonly valueStart: number; readonly scanner: JsonScanner } | null;
}

/** A prefix that some agents print before an error document; it becomes part of the document's frame. */
const LOG_PREFIX = /\[[A-Z]{3,8}\]\s+(?=[{[])/uy;

/** Blanks, and characters without content: NUL and the byte order mark. */
const BLANK = new RegExp(String.raw`[\s\u0000\ufeff]*`, 'uy');

/** Limit on failed searches for a value per line, because each can scan to the end of the line. */
const MAX_FAILURES = 16;

export function isBlank(text: string, start = 0): boolean {
  return skip(BLANK, text, start) === text.length;
}

/**
 * Finds the values in a line. At its start, after a log prefix and after another value, every object or array counts;
 * inside other text only the engine's records count, because error messages quote JSON too. `mayContinue` allows a
 * value to continue on the next line.
 */
export function segmentLine(text: string, recognizes: (value: object) => boolean, mayContinue: boolean): SegmentedLine {
  const segments: Segment[] = [];
  let problem: FrameProblem | null = null;
  let covered = 0;
  const budget = { failures: MAX_FAILURES };

  while (covered < text.length) {
    const start = skip(LOG_PREFIX, text, skip(BLANK, text, covered));
    let foundValue: FoundValue | null = null;
    if ((text[start] === '{' || text[start] === '[') && budget.failures > 0) {
      const scanner = new JsonScanner();
      const scan = scanner.scan(text, start);
      if (scan.kind === 'open' && mayContinue)
        return { segments, open: { start: covered, valueStart: start, scanner } };
      if (scan.kind === 'open') problem = 'truncated';
      else if (scan.kind === 'broken') problem = scan.tooDeep ? 'too_deep' : problem;
      else foundValue = readValue(text, start, scan.end);
      if (foundValue === null) budget.failures -= 1;
    }
    if (foundValue === null) {
      foundValue = findEmbedded(text, start + 1, recognizes, budget);
      const end = foundValue?.start ?? text.length;
      segments.push({ kind: 'text', start: covered, end, problem });
      covered = end;
    }
    if (foundValue !== null) {
      // Blanks at the end of the line do not get a separate frame.
      const end = isBlank(text, foundValue.end) ? text.length : foundValue.end;
      segments.push({
        kind: 'json',
        start: covered,
        end,
        text: text.slice(foundValue.start, foundValue.end),
        value: foundValue.value,
      });
      covered = end;
    }
  }
  return { segments, open: null };
}

interface FoundValue {
  readonly start: number;
  readonly end: number;
  readonly value: object;
}

function readValue(text: string, start: number, end: number): FoundValue | null {
  const source = text.slice(start, end);
  const value = readJson(source);
  return value === null || isTooDeep(value, source) ? null : { start, end, value };
}

function findEmbedded(
  text: string,
  from: number,
  recognizes: (value: object) => boolean,
  budget: { failures: number },
): FoundValue | null {
  let start = text.indexOf('{"', from);
  for (; start >= 0 && budget.failures > 0; budget.failures--) {
    const scan = new JsonScanner().scan(text, start);
    const foundValue = scan.kind === 'complete' ? readValue(text, start, scan.end) : null;
    if (foundValue !== null && recognizes(foundValue.value)) return foundValue;
    start = text.indexOf('{"', start + 1);
  }
  return null;
}

function skip(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : start;
}

/** A value of at least this many characters can be deeper than {@link MAX_DEPTH}. */
const MIN_DEEP_LENGTH = 2 * MAX_DEPTH;

/**
 * Parses a JSON object or array; null for anything else. Control characters inside strings (literal newlines, NUL),
 * which the standard forbids but agents print, are accepted as if they were escaped.
 *
 * @example
 * readJson('{"text":"one\ntwo"}') // { text: 'one\ntwo' }
 */
export function readJson(text: string): object | null {
  return tryParse(text) ?? tryParse(escapeControls(text));
}

/** Whether a value is nested too deeply. Only long values are checked. */
export function isTooDeep(value: object, text: string): boolean {
  return text.length > MIN_DEEP_LENGTH && isDeeperThan(value, MAX_DEPTH);
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, levels - 1));
  for (const key in value) {
    if (isDeeperThan((value as Record<string, unknown>)[key], levels - 1)) return true;
  }
  return false;
}

function tryParse(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

/** Escapes control characters inside strings; elsewhere the scanner has already rejected them. */
function escapeControls(text: string): string {
  let inString = false;
  return text.replaceAll(CONTROL_OR_STRING_MARK, (match) => {
    if (match === '"') inString = !inString;
    if (match.length > 1 || match === '"' || !inString) return match;
    return `\\u${match.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

const CONTROL_OR_STRING_MARK = new RegExp(String.raw`\\[^]|"|[\u0000-\u001f]`, 'gu');
