import { Reducer } from '../attempt/reducer.js';
import type { Engine } from '../engines/engine.js';
import { copyText } from '../attempt/engine-error.js';
import type { BlankFrame, Frame } from '../framing/frame.js';
import { EventWriter } from '../mapping/event-writer.js';
import { readJson } from '../framing/segment-line.js';
import { align } from '../../base/index.js';

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
    this.#waitingBytes += frame.to - frame.from;
    if (this.#isFull || this.#hasGap(waitingFrame)) this.#settle(false);
  }

  get #isFull(): boolean {
    return this.#waitingFrames.length >= MAX_WAITING || this.#waitingBytes > MAX_WAITING_BYTES;
  }

  /** Whether the streams lost a record: once they have a later one, an earlier one will not arrive. */
  #hasGap({ frame, key }: WaitingFrame): boolean {
    if (frame.kind !== 'json') return false;
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
    const records = this.#waitingFrames.filter(({ frame }) => frame.kind === 'json');
    const { partners, unpaired } = this.#pair(records);
    const lastPaired = partners.findLastIndex((partner) => partner >= 0);
    const settledCount = this.#countSettled(isFinal, records[lastPaired]);
    let record = 0;
    const repeatedKeys: string[] = [];
    for (const { key, frame } of this.#waitingFrames.slice(0, settledCount)) {
      const isRecord = frame.kind === 'json';
      const isPaired = isRecord && (partners[record++] ?? -1) >= 0;
      this.#waitingBytes -= frame.to - frame.from;
      this.#hasPartner ||= isPaired;
      if (isPaired) continue;
      if (isRecord && decrement(unpaired, key)) repeatedKeys.push(key);
      // The streams printed this record before others that the terminal has already repeated.
      else if (!(isRecord && this.#isSameSession() && this.main.takeSkipped(key))) this.#emit(frame, key);
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

  /** Returns how many waiting frames can be reported: up to the last with a partner, or the older half. */
  #countSettled(isFinal: boolean, lastPaired: WaitingFrame | undefined): number {
    if (isFinal) return this.#waitingFrames.length;
    if (lastPaired !== undefined) return this.#waitingFrames.indexOf(lastPaired) + 1;
    return this.#isFull ? Math.ceil(this.#waitingFrames.length / 2) : 0;
  }

  /** Reports a frame without a partner. Errors are only on the terminal if the streams are empty; damaged records on either. */
  #emit(waitingFrame: Frame, key: string): void {
    if (waitingFrame.kind === 'blank') return;
    if (waitingFrame.kind === 'text' && this.#isSameSession() && this.main.takeText(key)) return;
    const frame = restore(waitingFrame);
    if (frame.kind === 'text') this.#lineCount += 1;
    const isReadable =
      frame.kind === 'json' || (frame.kind === 'text' && (frame.problem !== null || this.main.isEmpty));
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

/** A terminal frame waiting to be compared, with the hash of its text. */
interface WaitingFrame {
  readonly key: string;
  readonly frame: Frame;
}

const NO_VALUE = {};

/** Keeps only a copy of the text: a slice would keep its whole chunk in memory, and the value takes more than its text. */
function copyForWaiting(frame: Frame): WaitingFrame {
  const key = hashText(frame.text);
  if (frame.kind === 'blank') return { key, frame };
  const text = copyText(frame.text);
  return { key, frame: frame.kind === 'json' ? { ...frame, text, value: NO_VALUE } : { ...frame, text } };
}

function restore(frame: Exclude<Frame, BlankFrame>): Exclude<Frame, BlankFrame> {
  return frame.kind === 'json' ? { ...frame, value: readJson(frame.text) ?? NO_VALUE } : frame;
}

function countRecords(count: number): string {
  return count === 1 ? '1 record' : `${count} records`;
}

/** Limit on records whose keys are stored for comparison with the terminal; beyond it, the older half is dropped. */
const MAX_RECORDS = 65_536;
/** The number of records compared at a time. */
const WINDOW = 4096;
/** Limit on other stored lines. */
const MAX_TEXT_LINES = 20_000;

/** Recent lines of stdout and stderr that the terminal can still repeat. */
class MainLines {
  #records: string[] = [];
  readonly #counts = new Map<string, number>();
  /** Records that the terminal skipped; it can still repeat them later. */
  readonly #skippedCounts = new Map<string, number>();
  readonly #lineCounts = new Map<string, number>();
  isEmpty = true;
  hasStdout = false;
  /** Whether records were dropped before the terminal could repeat them. */
  hasDropped = false;

  get hasRecords(): boolean {
    return this.#records.length > 0;
  }

  /** Whether the terminal can still repeat a record with this key. */
  hasRecord(key: string): boolean {
    return this.#counts.has(key);
  }

  /** Returns the keys of the oldest records, in order. */
  getWindow(): readonly string[] {
    return this.#records.slice(0, WINDOW);
  }

  /** Counts the records with each key that are not in `paired`, which has positions in the window. */
  countUnpaired(paired: ReadonlySet<number>): Map<string, number> {
    const counts = new Map<string, number>();
    for (const [index, key] of this.#records.entries()) {
      if (!paired.has(index)) increment(counts, key);
    }
    return counts;
  }

  add(frame: Frame): void {
    if (frame.kind !== 'json' && frame.kind !== 'text') return;
    this.isEmpty = false;
    this.hasStdout ||= frame.stream === 'stdout';
    const key = hashText(frame.text);
    if (frame.kind === 'json') {
      this.#records.push(key);
      increment(this.#counts, key);
      if (this.#records.length > MAX_RECORDS) this.#dropOlder();
    } else if (this.#lineCounts.size < MAX_TEXT_LINES) increment(this.#lineCounts, key);
  }

  /** Drops records that the terminal has passed. Records not in `paired` were skipped and can still be repeated. */
  drop(count: number, paired: ReadonlySet<number>): void {
    for (const [index, key] of this.#records.slice(0, count).entries()) {
      decrement(this.#counts, key);
      if (!paired.has(index) && this.#skippedCounts.size < MAX_RECORDS) increment(this.#skippedCounts, key);
    }
    this.#records = this.#records.slice(count);
  }

  /** Whether the terminal repeats a record that it had skipped; true once for each. */
  takeSkipped(key: string): boolean {
    return decrement(this.#skippedCounts, key);
  }

  /** Whether the terminal repeats this line; true once for each time the streams printed it. */
  takeText(key: string): boolean {
    return decrement(this.#lineCounts, key);
  }

  #dropOlder(): void {
    this.hasDropped = true;
    const count = this.#records.length >> 1;
    this.drop(count, new Set(Array.from({ length: count }, (_, index) => index)));
  }
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Decrements the count of a key; true if it was above zero. */
function decrement(counts: Map<string, number>, key: string): boolean {
  const count = counts.get(key) ?? 0;
  if (count > 1) counts.set(key, count - 1);
  else counts.delete(key);
  return count > 0;
}

/**
 * Returns a string's fingerprint, to compare long lines without storing them: two independent 32-bit hashes and the
 * length. An attacker who creates a collision only achieves that one of their own lines is reported once instead of
 * twice.
 */
function hashText(text: string): string {
  const plain = text.trim();
  let firstHash = 0x811c9dc5;
  let secondHash = 0x9e3779b9;
  for (let index = 0; index < plain.length; index++) {
    const unit = plain.charCodeAt(index);
    firstHash = Math.imul(firstHash ^ unit, 0x01000193);
    secondHash = Math.imul(secondHash + unit, 0x85ebca6b) ^ (secondHash >>> 13);
  }
  return `${plain.length}:${firstHash >>> 0}:${secondHash >>> 0}`;
}
