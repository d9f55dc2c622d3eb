import type { Frame } from '../framing/frame.js';
import type { EventWriter } from '../mapping/event-writer.js';
import type { DiagnosticCode } from '../protocol/diagnostic-codes.js';
import type { DriftSummary } from '../protocol/translator-output.js';
import { truncate } from './engine-error.js';

/** The maximum text length in a raw event; its `raw_ref` covers all bytes. */
const MAX_RAW_TEXT = 64 * 1024;

/** The maximum length of an unknown type or field name in a message. */
const MAX_NAME = 200;

/** The confidence of a frame that could not be parsed. */
const RAW_CONFIDENCE = 0.3;

const PROBLEM_CODES = {
  truncated: 'TRUNCATED_RECORD',
  too_deep: 'VALUE_TOO_DEEP',
  too_long: 'UNPARSED_CONTENT_FELL_BACK_TO_RAW',
} as const;

/** Tracks the bytes being read and emits the engine-independent events: raw events, warnings, drift. */
export class FrameEvents {
  readonly #writer: EventWriter;
  readonly drift = new DriftCounter();
  readonly #endsUnparsed = { stdout: false, stderr: false, pty: false, stdin: false };
  #frame: Frame | null = null;
  #followsUnparsed = false;
  /** Whether anything was reported about the frame; a frame without a report becomes raw. */
  isHandled = true;
  /** Fields of the frame's record that no event contains. */
  #rest: Record<string, unknown> | null = null;
  /** Whether the frame was already reported as raw; a frame with multiple unknown records is reported once. */
  #isRaw = false;

  constructor(writer: EventWriter) {
    this.#writer = writer;
  }

  open(frame: Frame): void {
    this.#frame = frame;
    this.#followsUnparsed = this.#endsUnparsed[frame.stream];
    this.#endsUnparsed[frame.stream] = false;
    this.#setReference(frame, frame, frame.encoding);
    this.#writer.confidence = 1;
    this.#writer.mark();
    this.#rest = null;
    this.isHandled = false;
    this.#isRaw = false;
  }

  /** Ends a frame. If the reader did not report it, it becomes raw with a warning, so nothing is lost. */
  close(frame: Frame): void {
    if (!this.isHandled) this.unparsed(undefined, undefined);
    if (this.#rest !== null && !this.#isRaw) this.#writer.addDetail(this.#rest);
    if (frame.kind === 'json' && frame.encoding === 'binary') this.#writer.warn('INVALID_UTF8');
  }

  /** Clears the byte reference: later events are not based on any bytes. */
  clearReference(): void {
    this.#frame = null;
    this.#writer.rawRef = null;
    this.#writer.confidence = 1;
    this.isHandled = true;
  }

  setFrames(first: Frame, last: Frame): void {
    this.#setReference(first, last, first.encoding === 'binary' ? 'binary' : last.encoding);
  }

  /** Emits the bytes being read as a raw event. */
  raw(text: string): void {
    this.isHandled = true;
    const stream = this.#writer.rawRef?.stream;
    if (stream === undefined || stream === 'stdin') return;
    const isShort = text.length <= MAX_RAW_TEXT;
    const data = isShort ? { text } : { text: truncate(text, MAX_RAW_TEXT), shortened: true };
    this.#writer.write(`raw.${stream}`, data);
    if (!isShort) this.#writer.warn('RAW_TEXT_SHORTENED');
  }

  /** Emits the frame as raw, without a warning. */
  noise(): void {
    if (this.#frame !== null) this.raw(this.#frame.text);
  }

  unparsed(code: DiagnosticCode | undefined, message: string | undefined): void {
    const frame = this.#frame;
    if (frame === null) return;
    const problem = frame.kind === 'text' ? frame.problem : null;
    const reason = code ?? (problem === null ? 'UNPARSED_CONTENT_FELL_BACK_TO_RAW' : PROBLEM_CODES[problem]);
    const confidence = this.#writer.confidence;
    this.#writer.confidence = RAW_CONFIDENCE;
    if (!this.#isRaw) this.raw(frame.text);
    this.#isRaw = true;
    this.#endsUnparsed[frame.stream] = true;
    // Only the first of consecutive unparseable lines gets a warning.
    if (!this.#followsUnparsed || reason !== 'UNPARSED_CONTENT_FELL_BACK_TO_RAW') {
      this.#writer.warn(reason, message, { confidence: RAW_CONFIDENCE });
      if (frame.kind === 'text' && frame.encoding === 'binary') this.#writer.warn('INVALID_UTF8');
    }
    // Other records of the same frame keep their confidence.
    this.#writer.confidence = confidence;
  }

  unknownType(type: string): void {
    const name = truncate(type, MAX_NAME);
    this.drift.addType(name);
    this.unparsed(
      'UNKNOWN_EVENT_TYPE',
      `The engine printed the unknown type ${JSON.stringify(name)}; it is in a raw event.`,
    );
  }

  checkFields(record: object, known: ReadonlySet<string>, path: string): void {
    for (const key in record) {
      if (!known.has(key)) this.#unknownField(truncate(path === '' ? key : `${path}.${key}`, MAX_NAME));
    }
  }

  keepUnusedFields(record: object, used: ReadonlySet<string>, path?: string): void {
    for (const key in record) {
      if (used.has(key)) continue;
      this.#rest ??= {};
      this.#rest[path === undefined ? key : `${path}.${key}`] = (record as Readonly<Record<string, unknown>>)[key];
    }
  }

  #unknownField(path: string): void {
    if (!this.drift.addField(path)) return;
    const message = `The engine printed the unknown field ${JSON.stringify(path)}; the event is still emitted.`;
    this.#writer.warn('UNKNOWN_FIELD', message, { subject: path });
  }

  #setReference(first: Frame, last: Frame, encoding: Frame['encoding']): void {
    this.#writer.rawRef = {
      attempt_number: this.#writer.attempt,
      stream: first.stream,
      byte_from: first.from,
      byte_to: last.to,
      encoding,
    };
  }
}

/** Limit on the distinct types and paths counted; a malicious agent could print a new one on every line. */
const MAX_NAMES = 1000;

/** Counts unknown types and fields, which reveals changes in an engine's output format. */
class DriftCounter {
  readonly #types = new Map<string, number>();
  readonly #fields = new Map<string, number>();

  addType(type: string): void {
    count(this.#types, type);
  }

  /** Returns true the first time this path occurs. */
  addField(path: string): boolean {
    return count(this.#fields, path) === 1;
  }

  /** Returns the counts, or null if everything was known. */
  summary(attempt: Pick<DriftSummary, 'run_id' | 'attempt_number' | 'engine' | 'engine_version'>): DriftSummary | null {
    if (this.#types.size === 0 && this.#fields.size === 0) return null;
    return {
      summary: 'drift',
      ...attempt,
      unknown_types: Object.fromEntries(this.#types),
      unknown_fields: Object.fromEntries(this.#fields),
    };
  }
}

/** Counts an occurrence of a name and returns its count, or 0 for a new name over the limit. */
function count(names: Map<string, number>, name: string): number {
  const previous = names.get(name) ?? 0;
  if (previous === 0 && names.size >= MAX_NAMES) return 0;
  names.set(name, previous + 1);
  return previous + 1;
}
