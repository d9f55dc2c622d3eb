import type { CapturedStream } from '../protocol/event-parts.js';
import type { Frame } from './frame.js';
import { isTooDeep, isBlank, segmentLine, readJson, type JsonScanner } from './segment-line.js';
import { LineFragment, type Line } from './decode-line.js';
import { createLineSplitter, MAX_LINE_BYTES } from './line-splitter.js';

interface FramerOptions {
  readonly stream: CapturedStream;
  /** `json`: values and the text between them. `text`: one frame per line. */
  readonly framing: 'json' | 'text';
  /** Whether a value embedded in other text is one of the engine's records. */
  readonly recognizes: (value: object) => boolean;
  readonly onFrame: (frame: Frame) => void;
  /** The maximum length of a line that is not split; for tests. */
  readonly maxLineBytes?: number;
}

export interface Framer {
  push(bytes: Uint8Array): void;
  end(): void;
}

/** How often a line can be held for a multi-line value that turns out to be invalid; bounds the work per byte. */
const MAX_HOLDS = 8;

const SCRIPT_LINE = /^Script (?:started|done) on .*\d\d:\d\d:\d\d/u;

const OPENING_BRACE = 0x7b;

/** Splits a stream into frames, only at line ends. Every byte is in exactly one, however the stream is chunked. */
export function createFramer(options: FramerOptions): Framer {
  const { stream, framing, recognizes, onFrame } = options;
  let open: MultiLineValue | null = null;

  function frameLine(line: Line): void {
    if (framing === 'text') return emitLineAsText(line);
    if (isIndivisible(line)) {
      abandonOpen();
      if (line.tooLong || !emitWholeLine(line)) emitLineAsText(line);
      return;
    }
    if (open === null && emitWholeLine(line)) return;
    readFragments([new LineFragment(line, 0)]);
  }

  /** Emits a line that is a JSON object: the most common case, and the fastest. */
  function emitWholeLine(line: Line): boolean {
    const { from, to } = line;
    if (line.text.charCodeAt(0) !== OPENING_BRACE) return false;
    const text = line.text.endsWith('\r') ? line.text.slice(0, -1) : line.text;
    let value: object;
    try {
      value = JSON.parse(text) as object;
    } catch {
      return false;
    }
    if (isTooDeep(value, text)) return false;
    onFrame({ kind: 'json', stream, from, to, encoding: line.isUtf8 ? 'utf-8' : 'binary', value, text });
    return true;
  }

  function emitLineAsText(line: Line): void {
    const { from, to } = line;
    const plain = new LineFragment(line, 0).plain;
    const encoding = line.isUtf8 ? ('utf-8' as const) : ('binary' as const);
    if (stream === 'pty' && SCRIPT_LINE.test(plain)) {
      return onFrame({ kind: 'script', stream, from, to, encoding, text: plain });
    }
    onFrame({ kind: 'text', stream, from, to, encoding, text: plain, problem: line.tooLong ? 'too_long' : null });
  }

  /** Reads fragments in order; the fragments of a value that turned out to be invalid are read again. */
  function readFragments(fragments: readonly LineFragment[]): void {
    const stack = fragments.toReversed();
    for (let fragment = stack.pop(); fragment !== undefined; fragment = stack.pop()) {
      if (open === null) {
        readFragment(fragment);
        continue;
      }
      const step = open.add(fragment);
      if (step === 'open') continue;
      const { fragments: heldFragments, from } = open;
      open = null;
      if (step === 'broken') {
        stack.push(fragment);
        for (const heldFragment of markAbandoned(heldFragments).toReversed()) stack.push(heldFragment);
        continue;
      }
      const end = isBlank(fragment.plain, step.end) ? fragment.plain.length : step.end;
      const encoding = fragment.isUtf8 && heldFragments.every((line) => line.isUtf8) ? 'utf-8' : 'binary';
      const { to } = fragment.span(stream, 0, end);
      onFrame({ kind: 'json', stream, from, to, encoding, value: step.value, text: step.text });
      if (end < fragment.plain.length) stack.push(fragment.rest(end));
    }
  }

  function readFragment(fragment: LineFragment): void {
    const { plain } = fragment;
    if (isBlank(plain)) return onFrame({ kind: 'blank', ...fragment.span(stream, 0, plain.length), text: '' });
    if (SCRIPT_LINE.test(plain))
      return onFrame({ kind: 'script', ...fragment.span(stream, 0, plain.length), text: plain });
    const line = segmentLine(plain, recognizes, fragment.holds < MAX_HOLDS);
    for (const segment of line.segments) {
      const span = fragment.span(stream, segment.start, segment.end);
      if (segment.kind === 'json') onFrame({ kind: 'json', ...span, value: segment.value, text: segment.text });
      else {
        const text = plain.slice(segment.start, segment.end);
        onFrame({ kind: 'text', ...span, text, problem: segment.problem });
      }
    }
    if (line.open !== null) {
      const { start, valueStart, scanner } = line.open;
      open = new MultiLineValue(fragment.rest(start), valueStart - start, scanner);
    }
  }

  /** Abandons a value that never ended: reads its fragments again, one by one. */
  function abandonOpen(): void {
    while (open !== null) {
      const { fragments } = open;
      open = null;
      readFragments(markAbandoned(fragments));
    }
  }

  const splitter = createLineSplitter(frameLine, options.maxLineBytes);

  return {
    push: (bytes) => splitter.push(bytes),
    end() {
      splitter.end();
      abandonOpen();
    },
  };
}

/** Whether a line cannot be split: it is overlong, or long with invalid bytes. */
function isIndivisible({ tooLong, isUtf8, bytes }: Line): boolean {
  return tooLong || (!isUtf8 && bytes === null);
}

/** Marks the fragments of an abandoned value: the first cannot start a value again, the others can. */
function markAbandoned(fragments: readonly LineFragment[]): readonly LineFragment[] {
  return fragments.map((fragment, index) => fragment.withHolds(index === 0 ? MAX_HOLDS : fragment.holds + 1));
}

/** A string over more lines is unterminated; until then, the lines after its opening quote are held back. */
const MAX_STRING_LINES = 10_000;

class MultiLineValue {
  /** The fragments read so far; the value starts in the first. */
  readonly fragments: LineFragment[] = [];
  readonly #valueStart: number;
  readonly #scanner: JsonScanner;
  #bytes: number;
  #stringLines = 0;

  /** The value starts at a position in the first fragment, which `scanner` has already read. */
  constructor(first: LineFragment, valueStart: number, scanner: JsonScanner) {
    this.fragments.push(first);
    this.#valueStart = valueStart;
    this.#bytes = first.bytes;
    this.#scanner = scanner;
  }

  get from(): number {
    return this.fragments[0]?.from ?? 0;
  }

  /**
   * Continues reading. `open`: more is needed. `broken`: this is not a value, and the fragment was not consumed.
   * Otherwise returns the value, its source, and the position after it in the fragment.
   */
  add(fragment: LineFragment): 'open' | 'broken' | { value: object; text: string; end: number } {
    this.#bytes += fragment.bytes;
    this.#stringLines = this.#scanner.inString ? this.#stringLines + 1 : 0;
    if (this.#bytes > MAX_LINE_BYTES || this.#stringLines > MAX_STRING_LINES) return 'broken';
    if (this.#scanner.scan('\n', 0).kind === 'broken') return 'broken';
    const scan = this.#scanner.scan(fragment.plain, 0);
    if (scan.kind === 'broken') return 'broken';
    if (scan.kind === 'open') {
      this.fragments.push(fragment);
      return 'open';
    }
    const lines = this.fragments.map((line) => line.plain);
    lines.push(fragment.plain.slice(0, scan.end));
    const text = lines.join('\n').slice(this.#valueStart);
    const value = readJson(text);
    return value === null ? 'broken' : { value, text, end: scan.end };
  }
}
