import { Attempt } from '../attempt/report-writer.js';
import type { Engine } from '../engines/engine.js';
import type { Frame, JsonFrame, TextFrame } from '../framing/frame.js';
import { EventWriter } from '../mapping/event-writer.js';
import { readJson } from '../framing/segment-line.js';
import type { Report } from '../engines/report.js';
import { align } from './align.js';
import { MainLines, takeOne, textKey } from './main-lines.js';

/** Frames and bytes of the terminal that may wait; then what can be reported is reported. */
const MAX_WAITING = 2048;
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/**
 * Merges a terminal recording with stdout and stderr of the same attempt. The streams come first; the terminal fills in
 * what they lost. Both are aligned as sequences, so a message that was printed twice stays twice. Waiting frames are
 * bounded: a terminal that lags behind by more than that is set aside rather than reported twice.
 */
export class TerminalMerge {
  readonly #engine: Engine;
  readonly #attempt: Attempt;
  readonly #writer: EventWriter;
  /** The frames of stdout and stderr, which are already reported; every one must be added. */
  readonly main = new MainLines();
  /** Reads the terminal alone: its order is whole where that of stdout has holes. */
  readonly #shadow: Attempt;
  readonly #shadowWriter: EventWriter;
  #waiting: WaitingFrame[] = [];
  #waitingBytes = 0;
  #session: string | null = null;
  readonly #tally = new MergeTally();
  #hasPartner = false;
  /** Whether a record waits that the streams had not printed when it came. */
  #mayBeLost = false;

  constructor(engine: Engine, attempt: Attempt, writer: EventWriter) {
    this.#engine = engine;
    this.#attempt = attempt;
    this.#writer = writer;
    const { name, parser, parserVersion } = engine;
    const nowhere = {
      runId: 'shadow',
      attempt: 1,
      fcmpSeq: 0,
      sessionId: null,
      cachedFrom: null,
      waitsForSession: false,
      usageEndsStep: false,
    };
    this.#shadowWriter = new EventWriter({ ...nowhere, engine: name, parser, parserVersion });
    this.#shadow = new Attempt(engine, this.#shadowWriter);
  }

  addTerminal(frame: Frame): void {
    if (frame.kind === 'json') {
      this.#session ??= this.#engine.readSession(frame.value);
      this.#shadow.read(frame);
      this.#shadowWriter.take();
    }
    const waiting = copyForWaiting(frame);
    this.#waiting.push(waiting);
    this.#waitingBytes += waiting.bytes;
    const isFull = this.#waiting.length >= MAX_WAITING || this.#waitingBytes > MAX_WAITING_BYTES;
    if (isFull || this.#showsGap(waiting)) this.#settle(false);
  }

  /** Streams keep their order: once they have a later record, one that the terminal had before it will not come. */
  #showsGap({ kind, key }: WaitingFrame): boolean {
    if (kind !== 'json') return false;
    if (this.main.hasRecord(key)) return this.#mayBeLost;
    this.#mayBeLost = true;
    return false;
  }

  /** All frames have come. */
  end(): void {
    this.#settle(true);
    // Alone, a terminal differs from nothing.
    if (!this.main.isEmpty) this.#tally.report(this.#attempt.report, () => this.#whySetAside());
  }

  #settle(isFinal: boolean): void {
    this.#mayBeLost = false;
    const before = this.#attempt.report.outcome;
    const records = this.#waiting.filter(({ kind }) => kind === 'json');
    const { partners, others } = this.#pair(records);
    const lastPaired = partners.findLastIndex((partner) => partner >= 0);
    const settled = this.#settledCount(isFinal, records[lastPaired]);
    let record = 0;
    const repeated: string[] = [];
    for (const waiting of this.#waiting.slice(0, settled)) {
      const isPaired = waiting.kind === 'json' && (partners[record++] ?? -1) >= 0;
      this.#waitingBytes -= waiting.bytes;
      this.#hasPartner ||= isPaired;
      if (isPaired) continue;
      if (waiting.kind === 'json' && takeOne(others, waiting.key)) repeated.push(waiting.key);
      else if (!this.#isPassed(waiting)) this.#emit(waiting);
    }
    this.#waiting = this.#waiting.slice(settled);
    this.main.drop((partners[lastPaired] ?? -1) + 1, new Set(partners));
    for (const key of repeated) this.main.repeatsPassed(key);
    // A terminal alone is reported in its own order; its outcome is that of the attempt.
    if (this.main.isEmpty) return;
    // Reported late, restored records must not undo what came after them.
    const isWhole = isFinal && this.#tally.hasRestored && !this.main.hasRecords;
    this.#attempt.report.outcome = isWhole ? this.#shadow.report.outcome : before;
  }

  /** Pairs these records with those of the streams (-1 for none) and counts how often the streams have each of the others. */
  #pair(records: readonly WaitingFrame[]): {
    readonly partners: readonly number[];
    readonly others: Map<string, number>;
  } {
    // Equal lines of another session are not repeats.
    if (!this.#isSameSession()) return { partners: [], others: new Map() };
    const keys = records.map(({ key }) => key);
    const partners = align(this.main.window(), keys);
    return { partners, others: this.main.countOthers(new Set(partners)) };
  }

  /** The streams printed this record before others that the terminal has shown already. */
  #isPassed({ kind, key }: WaitingFrame): boolean {
    return kind === 'json' && this.#isSameSession() && this.main.repeatsPassed(key);
  }

  /** How many waiting frames can be reported: up to the last one with a partner, or the older half if there is none. */
  #settledCount(isFinal: boolean, lastPaired: WaitingFrame | undefined): number {
    if (isFinal) return this.#waiting.length;
    if (lastPaired !== undefined) return this.#waiting.indexOf(lastPaired) + 1;
    const isFull = this.#waiting.length >= MAX_WAITING || this.#waitingBytes > MAX_WAITING_BYTES;
    return isFull ? Math.ceil(this.#waiting.length / 2) : 0;
  }

  /** A frame without a partner. */
  #emit(waiting: WaitingFrame): void {
    if (waiting.kind === 'blank') return;
    if (waiting.kind === 'text' && this.#isSameSession() && this.main.repeatsText(waiting.key)) return;
    const frame = waiting.wake();
    const isReadable = frame.kind === 'json' || (frame.kind === 'text' && this.#isEngineText(frame.problem));
    if (!isReadable || !this.#isMergeable()) {
      this.#attempt.setAside(frame);
      if (frame.kind === 'json') this.#tally.addSetAside();
      return;
    }
    this.#attempt.read(frame);
    if (frame.kind === 'json') this.#tally.addRestored(frame);
  }

  /** Text is the engine's where the streams are silent: nothing else reports its errors. Damaged records are always reported. */
  #isEngineText(problem: string | null): boolean {
    return problem !== null || this.main.isEmpty;
  }

  /** Same session, and nothing forgotten that this could be a repeat of. */
  #isMergeable(): boolean {
    return this.#isSameSession() && (!this.main.hasForgotten || this.#hasPartner);
  }

  #isSameSession(): boolean {
    const main = this.#writer.sessionId;
    return main === null || this.#session === null || main === this.#session;
  }

  #whySetAside(): string {
    if (this.#isSameSession()) return 'they came too late to be compared with stdout';
    return `the terminal shows session ${this.#session ?? ''}, stdout ${this.#writer.sessionId ?? ''}`;
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** A frame of the terminal that waits to be compared. Its text is copied: a slice would keep its whole chunk. */
interface WaitingFrame {
  readonly key: string;
  readonly kind: Frame['kind'];
  readonly bytes: number;
  /** The frame again. */
  wake(): Frame;
}

/** Copies what is needed of a frame, so that it can wait. */
function copyForWaiting(frame: Frame): WaitingFrame {
  const { kind, stream, from, to, encoding } = frame;
  const text = encoder.encode(frame.text);
  const problem = frame.kind === 'text' ? frame.problem : null;
  return {
    key: textKey(frame.text),
    kind,
    bytes: to - from,
    wake() {
      const span = { stream, from, to, encoding };
      const source = decoder.decode(text);
      if (kind === 'blank') return { ...span, kind, text: '' };
      if (kind === 'script') return { ...span, kind, text: source };
      const value = kind === 'json' ? readJson(source) : null;
      if (value !== null) return { ...span, kind: 'json', value, text: source } satisfies JsonFrame;
      return { ...span, kind: 'text', text: source, problem } satisfies TextFrame;
    },
  };
}

/** Counts the records of a terminal that the streams had lost, and those that could not be compared. */
class MergeTally {
  #restored = 0;
  #first: Frame | null = null;
  #last: Frame | null = null;
  #setAside = 0;

  get hasRestored(): boolean {
    return this.#restored > 0;
  }

  addRestored(frame: Frame): void {
    this.#restored += 1;
    this.#first ??= frame;
    this.#last = frame;
  }

  addSetAside(): void {
    this.#setAside += 1;
  }

  /** Reports both; `why` records were set aside is asked only if some were. */
  report(report: Pick<Report, 'spanning' | 'warning'>, why: () => string): void {
    if (this.#first !== null && this.#last !== null) {
      report.spanning(this.#first, this.#last);
      const message = `Restored ${this.#restored} records from the terminal that stdout had lost.`;
      report.warning('PTY_STREAM_MISMATCH', message);
    }
    if (this.#setAside === 0) return;
    report.warning('PTY_STREAM_MISMATCH', `Set ${this.#setAside} records of the terminal aside: ${why()}.`);
  }
}
