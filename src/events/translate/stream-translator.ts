import { Reducer } from '../attempt/reducer.js';
import { endAttempt, startWithoutSession, type AttemptEnd } from '../end/attempt-end.js';
import type { Engine, ProcessExit, TranslatorOptions } from '../engines/engine.js';
import type { Frame } from '../framing/frame.js';
import { createFramer, type Framer } from '../framing/framer.js';
import { EventWriter, toTimestamp } from '../mapping/event-writer.js';
import type {
  Coverage,
  DriftSummary,
  Emitted,
  DrainResult,
  ByteRange,
  StreamCoverage,
} from '../protocol/translator-output.js';
import { perStream, type CapturedStream } from '../protocol/event-parts.js';
import { TerminalMerge } from '../terminal/terminal-merge.js';

/** A single frame with at least this confidence shows which agent printed it. */
export const SURE_CONFIDENCE = 0.9;

/** The number of values that are examined for another engine. */
const MAX_EXAMINED = 200;

/** The confidence that unrecognized output is plain text. */
const GUESS_CONFIDENCE = 0.2;

/** Translates the streams of one attempt whose engine is known. The time is passed with the bytes. */
export class StreamTranslator {
  readonly #engine: Engine;
  readonly #options: TranslatorOptions;
  /** Whether the engine could not be detected and the output is read as plain text. */
  readonly #isGuess: boolean;
  readonly #writer: EventWriter;
  readonly #attempt: Reducer;
  readonly #engines: readonly Engine[];
  /** The engine that the output resembles; null once a value of the named engine was found. */
  #otherEngine: Engine | null = null;
  #unexamined = MAX_EXAMINED;
  readonly #framers: Readonly<Record<CapturedStream, Framer>>;
  readonly #ledgers = perStream(() => new CoverageLedger());
  /** Recent stream output, to compare with a terminal that starts late. */
  readonly #recent = { stdout: new RecentBytes(), stderr: new RecentBytes() };
  #terminal: TerminalMerge | null = null;
  #isStarted = false;
  #isDrained = false;
  #lastByteMs = 0;
  #bytes = 0;

  /** `engines` are all engines, to detect output of a different engine. */
  constructor(engine: Engine, engines: readonly Engine[], options: TranslatorOptions, isGuess = false) {
    this.#engine = engine;
    this.#engines = engines;
    this.#options = options;
    this.#isGuess = isGuess;
    this.#writer = new EventWriter(engine, options);
    this.#attempt = new Reducer(engine, this.#writer);
    this.#framers = perStream((stream) =>
      this.#createFramer(stream, (frame) => {
        this.#ledgers[stream].claim(frame.from, frame.to);
        if (stream === 'stdin') this.#readSent(frame);
        else if (stream === 'pty' && options.terminalOnly !== true) this.#terminal?.addTerminal(frame);
        else this.#read(frame);
      }),
    );
  }

  /** Reads the next bytes of a stream, which arrived at `atMs`. */
  push(stream: CapturedStream, bytes: Uint8Array, atMs: number): Emitted[] {
    if (bytes.length === 0) return [];
    this.#writeStart(atMs);
    this.#ledgers[stream].receive(bytes.length);
    if (stream !== 'stdin') {
      this.#lastByteMs = atMs;
      this.#bytes += bytes.length;
    }
    if (stream === 'pty') {
      if (this.#options.terminalOnly !== true) this.#terminal ??= this.#startTerminal();
    } else if (stream !== 'stdin' && this.#terminal === null) this.#recent[stream].add(bytes);
    this.#framers[stream].push(bytes);
    return this.#writer.take();
  }

  /** Marks the end of the bytes: emits pending events, and returns the final state. */
  drain(exit: ProcessExit, atMs: number): DrainResult {
    this.#readRest(exit, atMs);
    return { events: this.#writer.take(), ...this.peek() };
  }

  peek(): Omit<DrainResult, 'events'> {
    const { endSignal, runtimeError, usage } = this.#attempt.evidence;
    return {
      doneMarker: this.#attempt.messages.doneMarkers > 0,
      endSignal,
      runtimeError,
      sessionId: this.#writer.sessionId,
      usage,
    };
  }

  /** Ends the attempt after the process has exited. */
  end(end: AttemptEnd, atMs: number): Emitted[] {
    this.#readRest(end, atMs);
    const silenceMs = this.#bytes === 0 ? 0 : atMs - this.#lastByteMs;
    const { mode = 'interactive' } = this.#options;
    endAttempt(this.#attempt, this.#writer, { engine: this.#engine, mode, end, bytes: this.#bytes, silenceMs });
    return this.#writer.take();
  }

  coverage(): Coverage {
    return perStream((stream) => this.#ledgers[stream].report());
  }

  /** Unknown types and fields in the engine's output, or null. */
  drift(): DriftSummary | null {
    return this.#attempt.drift.summary({
      run_id: this.#options.runId,
      attempt_number: this.#options.attempt,
      engine: this.#engine.name,
      engine_version: this.#attempt.facts.version,
    });
  }

  #readRest(exit: ProcessExit, atMs: number): void {
    this.#writeStart(atMs);
    if (this.#isDrained) return;
    this.#isDrained = true;
    for (const framer of Object.values(this.#framers)) framer.end();
    this.#terminal?.end();
    this.#attempt.end(exit);
    startWithoutSession(this.#attempt, this.#writer, this.#engine);
    this.#writer.publishWaiting();
    this.#warnAboutMismatch();
  }

  /** Emits the first events: the start of the attempt, and the reply that started it. */
  #writeStart(atMs: number): void {
    this.#writer.time = toTimestamp(atMs);
    if (this.#isStarted) return;
    this.#isStarted = true;
    const { mode = 'interactive', attempt, reply, sessionId, cachedFrom } = this.#options;
    const resumed = reply !== undefined || sessionId !== undefined;
    const cached = cachedFrom === undefined ? undefined : { cached_from: cachedFrom };
    this.#writer.write('lifecycle.run.started', { mode, resumed, ...cached });
    if (this.#isGuess) this.#writer.warn('UNKNOWN_ENGINE_PROFILE', undefined, { confidence: GUESS_CONFIDENCE });
    if (reply === undefined) return;
    const id = `ix_${Math.max(1, attempt - 1)}`;
    this.#writer.write('interaction.user_input.replied', { interaction_id: id, text: reply }, { interaction_id: id });
  }

  #createFramer(stream: CapturedStream, onFrame: (frame: Frame) => void): Framer {
    const { framing } = this.#engine;
    return createFramer({ stream, framing, recognizes: (value) => this.#engine.detect(value) > 0, onFrame });
  }

  /** Called with a terminal's first byte: reads the earlier stream output again, for comparison. */
  #startTerminal(): TerminalMerge {
    const terminal = new TerminalMerge(this.#engine, this.#attempt, this.#writer);
    for (const stream of ['stdout', 'stderr'] as const) {
      const recent = this.#recent[stream];
      const framer = this.#createFramer(stream, (frame) => terminal.main.add(frame));
      framer.push(recent.take());
      if (recent.isTruncated) terminal.main.hasDropped = true;
    }
    return terminal;
  }

  /** Detects that the output does not come from the named engine. */
  #examineEngine(value: object): void {
    if (this.#unexamined === 0) return;
    const isKnown = this.#engine.detect(value) > 0;
    this.#unexamined = isKnown ? 0 : this.#unexamined - 1;
    if (isKnown) this.#otherEngine = null;
    else this.#otherEngine ??= this.#engines.find((engine) => engine.detect(value) >= SURE_CONFIDENCE) ?? null;
  }

  #warnAboutMismatch(): void {
    const otherName = this.#otherEngine?.name;
    if (otherName === undefined) return;
    const message = `The output does not look like output from "${this.#engine.name}"; it looks like output from "${otherName}".`;
    this.#writer.warn('ENGINE_MISMATCH', message, { subject: otherName, confidence: SURE_CONFIDENCE });
  }

  /** Reads the agent's input, if its engine needs it. */
  #readSent(frame: Frame): void {
    if (this.#engine.readsInput === true && (frame.kind === 'json' || frame.kind === 'text')) this.#attempt.read(frame);
  }

  #read(frame: Frame): void {
    if (frame.kind === 'json') this.#examineEngine(frame.value);
    if (frame.kind === 'json' || frame.kind === 'text') this.#attempt.read(frame);
    else if (frame.kind === 'script') this.#attempt.setAside(frame);
    else this.#attempt.readBlank(frame);
    this.#terminal?.main.add(frame);
  }
}

/** Limit on stored bytes: a terminal that starts late is compared with this much recent stream output. */
const CAPACITY = 4 * 1024 * 1024;
const BLOCK_SIZE = 64 * 1024;
const LINE_FEED = 0x0a;

/** The last bytes of a stream, in blocks: memory is bounded, and the content does not depend on chunking. */
export class RecentBytes {
  #blocks: Uint8Array[] = [];
  #written = 0;

  get isTruncated(): boolean {
    return this.#written > CAPACITY;
  }

  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      const start = this.#written % BLOCK_SIZE;
      if (start === 0) this.#blocks.push(new Uint8Array(BLOCK_SIZE));
      if (this.#blocks.length > CAPACITY / BLOCK_SIZE + 1) this.#blocks.shift();
      const part = bytes.subarray(at, at + BLOCK_SIZE - start);
      this.#blocks.at(-1)?.set(part, start);
      this.#written += part.length;
      at += part.length;
    }
  }

  /** Returns the stored bytes, oldest first, from the start of a line. Nothing can be added afterwards. */
  take(): Uint8Array {
    const used = this.#blocks.length * BLOCK_SIZE - BLOCK_SIZE + (this.#written % BLOCK_SIZE || BLOCK_SIZE);
    const all = new Uint8Array(this.#blocks.length * BLOCK_SIZE);
    for (const [index, block] of this.#blocks.entries()) all.set(block, index * BLOCK_SIZE);
    this.#blocks = [];
    const bytes = all.subarray(0, used).subarray(-CAPACITY);
    return this.isTruncated ? bytes.subarray(bytes.indexOf(LINE_FEED) + 1) : bytes;
  }
}

/**
 * Compares the bytes that arrived on one stream with the bytes that its frames cover. It does not rely on the framer or on the
 * order of frames. While frames arrive in order, each costs one comparison.
 */
export class CoverageLedger {
  #bytes = 0;
  /** In order of arrival; normally a single range. */
  readonly #claims: [from: number, to: number][] = [];

  receive(bytes: number): void {
    this.#bytes += bytes;
  }

  claim(from: number, to: number): void {
    const last = this.#claims.at(-1);
    if (from === last?.[1]) last[1] = to;
    else if (to > from) this.#claims.push([from, to]);
  }

  report(): StreamCoverage {
    const unclaimed: ByteRange[] = [];
    const doubled: ByteRange[] = [];
    let covered = 0;
    let claimed = 0;
    for (const [from, to] of this.#claims.toSorted((left, right) => left[0] - right[0])) {
      if (from > covered) unclaimed.push([covered, from]);
      if (from < covered) doubled.push([from, Math.min(covered, to)]);
      claimed += Math.max(0, to - Math.max(covered, from));
      covered = Math.max(covered, to);
    }
    if (covered < this.#bytes) unclaimed.push([covered, this.#bytes]);
    return { bytes: this.#bytes, claimed, unclaimed, doubled };
  }
}
