import { Reducer } from '../attempt/reducer.js';
import type { Engine } from '../engines/engine.js';
import type { Frame, JsonFrame, TextFrame } from '../framing/frame.js';
import { EventWriter } from '../mapping/event-writer.js';
import { readJson } from '../framing/segment-line.js';
import { align } from '../../base/index.js';
import { MainLines, decrement, hashText } from './main-lines.js';

/** Limits on the terminal's waiting frames and their bytes; beyond them, the oldest are reported. */
const MAX_WAITING = 2048;
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/**
 * Merges a terminal recording with stdout and stderr of the same attempt. The streams take precedence; the terminal
 * adds the records that they lost. Both are aligned as sequences, so a message that was printed twice is reported twice. Waiting
 * frames are limited: if the terminal lags behind further, its frames are set aside rather than reported twice.
 */
export class TerminalMerge {
  readonly #engine: Engine;
  readonly #attempt: Reducer;
  readonly #writer: EventWriter;
  /** The frames of stdout and stderr, which are already reported; all of them must be added. */
  readonly main = new MainLines();
  /** Reads only the terminal, whose records are complete even if stdout lost some. */
  readonly #shadow: Reducer;
  readonly #shadowWriter: EventWriter;
  #waitingFrames: WaitingFrame[] = [];
  #waitingBytes = 0;
  #session: string | null = null;
  /** The records that the streams lost. */
  #restored: { count: number; readonly first: Frame; last: Frame } | null = null;
  /** Counts of the records that could not be compared, and of other lines. */
  #setAsideCount = 0;
  #lineCount = 0;
  #hasPartner = false;
  /** Whether the streams had not printed a waiting record when it arrived. */
  #mayBeLost = false;

  constructor(engine: Engine, attempt: Reducer, writer: EventWriter) {
    this.#engine = engine;
    this.#attempt = attempt;
    this.#writer = writer;
    this.#shadowWriter = new EventWriter(engine, { runId: 'shadow', attempt: 1 });
    this.#shadow = new Reducer(engine, this.#shadowWriter);
  }

  addTerminal(frame: Frame): void {
    if (frame.kind === 'json') {
      this.#session ??= this.#engine.readSession(frame.value);
      this.#shadow.read(frame);
      this.#shadowWriter.take();
    }
    const waitingFrame = copyForWaiting(frame);
    this.#waitingFrames.push(waitingFrame);
    this.#waitingBytes += waitingFrame.bytes;
    const isFull = this.#waitingFrames.length >= MAX_WAITING || this.#waitingBytes > MAX_WAITING_BYTES;
    if (isFull || this.#hasGap(waitingFrame)) this.#settle(false);
  }

  /** Whether the streams lost a record: once they have a later one, an earlier one will not arrive. */
  #hasGap({ kind, key }: WaitingFrame): boolean {
    if (kind !== 'json') return false;
    if (this.main.hasRecord(key)) return this.#mayBeLost;
    this.#mayBeLost = true;
    return false;
  }

  /** Called after the last frame. */
  end(): void {
    this.#settle(true);
    if (this.#restored !== null) {
      const { first, last, count } = this.#restored;
      this.#attempt.add({ fact: 'frames', first, last });
      this.#warn(`Restored ${countRecords(count)} missing from stdout, using the terminal.`);
    } else if (!this.main.hasStdout && this.#setAsideCount === 0 && this.#lineCount > 0)
      this.#warn(`Stdout is empty, but the terminal shows other lines: ${this.#lineCount}.`);
    if (this.#setAsideCount > 0)
      this.#warn(`Set aside ${countRecords(this.#setAsideCount)} from the terminal: ${this.#explainSetAside()}.`);
  }

  #warn(message: string): void {
    this.#attempt.add({ fact: 'warning', code: 'PTY_STREAM_MISMATCH', message });
  }

  #settle(isFinal: boolean): void {
    this.#mayBeLost = false;
    const previousOutcome = this.#attempt.evidence;
    const records = this.#waitingFrames.filter(({ kind }) => kind === 'json');
    const { partners, unpaired } = this.#pair(records);
    const lastPaired = partners.findLastIndex((partner) => partner >= 0);
    const settledCount = this.#countSettled(isFinal, records[lastPaired]);
    let record = 0;
    const repeatedKeys: string[] = [];
    for (const waitingFrame of this.#waitingFrames.slice(0, settledCount)) {
      const isPaired = waitingFrame.kind === 'json' && (partners[record++] ?? -1) >= 0;
      this.#waitingBytes -= waitingFrame.bytes;
      this.#hasPartner ||= isPaired;
      if (isPaired) continue;
      if (waitingFrame.kind === 'json' && decrement(unpaired, waitingFrame.key)) repeatedKeys.push(waitingFrame.key);
      else if (!this.#isSkipped(waitingFrame)) this.#emit(waitingFrame);
    }
    this.#waitingFrames = this.#waitingFrames.slice(settledCount);
    this.main.drop((partners[lastPaired] ?? -1) + 1, new Set(partners));
    for (const key of repeatedKeys) this.main.takeSkipped(key);
    // Without other streams, the terminal's records are in order, and their outcome is the attempt's outcome.
    if (this.main.isEmpty) return;
    // Restored records are reported late, so their outcome must not replace the outcome of later records.
    const isComplete = isFinal && this.#restored !== null && !this.main.hasRecords;
    this.#attempt.evidence = isComplete ? this.#shadow.evidence : previousOutcome;
  }

  /** Pairs these records with the streams' records (-1: no partner) and counts the streams' unpaired records by key. */
  #pair(records: readonly WaitingFrame[]): {
    readonly partners: readonly number[];
    readonly unpaired: Map<string, number>;
  } {
    // Equal lines of another session are not repeats.
    if (!this.#isSameSession()) return { partners: [], unpaired: new Map() };
    const keys = records.map(({ key }) => key);
    const partners = align(this.main.getWindow(), keys);
    return { partners, unpaired: this.main.countUnpaired(new Set(partners)) };
  }

  /** Whether the streams printed this record before others that the terminal has already repeated. */
  #isSkipped({ kind, key }: WaitingFrame): boolean {
    return kind === 'json' && this.#isSameSession() && this.main.takeSkipped(key);
  }

  /** Returns how many waiting frames can be reported: up to the last with a partner, or the older half. */
  #countSettled(isFinal: boolean, lastPaired: WaitingFrame | undefined): number {
    if (isFinal) return this.#waitingFrames.length;
    if (lastPaired !== undefined) return this.#waitingFrames.indexOf(lastPaired) + 1;
    const isFull = this.#waitingFrames.length >= MAX_WAITING || this.#waitingBytes > MAX_WAITING_BYTES;
    return isFull ? Math.ceil(this.#waitingFrames.length / 2) : 0;
  }

  /** Reports a frame without a partner. */
  #emit(waitingFrame: WaitingFrame): void {
    if (waitingFrame.kind === 'blank') return;
    if (waitingFrame.kind === 'text' && this.#isSameSession() && this.main.takeText(waitingFrame.key)) return;
    const frame = waitingFrame.restore();
    if (frame.kind === 'text') this.#lineCount += 1;
    const isReadable = frame.kind === 'json' || (frame.kind === 'text' && this.#isEngineText(frame.problem));
    if (!isReadable || !this.#isMergeable()) {
      this.#attempt.setAside(frame);
      if (frame.kind === 'json') this.#setAsideCount += 1;
      return;
    }
    this.#attempt.read(frame);
    if (frame.kind !== 'json') return;
    this.#restored ??= { count: 0, first: frame, last: frame };
    this.#restored.count += 1;
    this.#restored.last = frame;
  }

  /** Errors appear only on the terminal if the streams are empty; damaged records on either. */
  #isEngineText(problem: string | null): boolean {
    return problem !== null || this.main.isEmpty;
  }

  /** Whether the terminal's records can be merged: the session is the same, and none was dropped. */
  #isMergeable(): boolean {
    return this.#isSameSession() && (!this.main.hasDropped || this.#hasPartner);
  }

  #isSameSession(): boolean {
    const main = this.#writer.sessionId;
    return main === null || this.#session === null || main === this.#session;
  }

  #explainSetAside(): string {
    if (this.#isSameSession()) return 'they arrived too late to be compared with stdout';
    return `the terminal shows session "${this.#session ?? ''}", stdout shows "${this.#writer.sessionId ?? ''}"`;
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** A terminal frame waiting to be compared. Its text is copied: a slice would keep its whole chunk in memory. */
interface WaitingFrame {
  readonly key: string;
  readonly kind: Frame['kind'];
  readonly bytes: number;
  restore(): Frame;
}

function copyForWaiting(frame: Frame): WaitingFrame {
  const { kind, stream, from, to, encoding } = frame;
  const text = encoder.encode(frame.text);
  const problem = frame.kind === 'text' ? frame.problem : null;
  return {
    key: hashText(frame.text),
    kind,
    bytes: to - from,
    restore() {
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

function countRecords(count: number): string {
  return count === 1 ? '1 record' : `${count} records`;
}
