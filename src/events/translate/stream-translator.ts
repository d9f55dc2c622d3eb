import { Attempt } from '../attempt/report-writer.js';
import { endAttempt, startUnnamed } from '../end/attempt-end.js';
import type { AttemptEnd } from '../end/attempt-end.js';
import type { Engine, ProcessExit } from '../engines/engine.js';
import type { Frame } from '../framing/frame.js';
import { createFramer } from '../framing/framer.js';
import type { Framer } from '../framing/framer.js';
import { EventWriter, toTimestamp } from '../mapping/event-writer.js';
import type { Coverage, DriftSummary, Emitted, Drained } from '../protocol/translator-output.js';
import type { CapturedStream } from '../protocol/event-parts.js';
import { RecentBytes } from '../terminal/recent-bytes.js';
import { TerminalMerge } from '../terminal/terminal-merge.js';
import { CoverageLedger } from './coverage-ledger.js';

/** The attempt to translate. */
export interface AttemptStart {
  readonly runId: string;
  readonly attempt: number;
  readonly mode: 'auto' | 'interactive';
  readonly fcmpSeq: number;
  readonly sessionId: string | null;
  readonly reply: string | null;
  /** The run whose cached result this one repeats. */
  readonly cachedFrom: string | null;
  /** The program prints on a terminal only. */
  readonly terminalOnly: boolean;
  /** The engine could not be detected from the bytes: they are read as plain text. */
  readonly isGuess: boolean;
}

/** The confidence that unrecognised output is plain text. */
const GUESS_CONFIDENCE = 0.2;

/** Translates the streams of one attempt whose engine is known. The time comes with the bytes. */
export class StreamTranslator {
  readonly #engine: Engine;
  readonly #start: AttemptStart;
  readonly #writer: EventWriter;
  readonly #attempt: Attempt;
  readonly #mismatch: EngineMismatch;
  readonly #framers: Readonly<Record<CapturedStream, Framer>>;
  readonly #ledgers: Readonly<Record<CapturedStream, CoverageLedger>>;
  /** Recent output of the streams, to compare with a terminal that starts late. */
  readonly #recent = { stdout: new RecentBytes(), stderr: new RecentBytes() };
  #terminal: TerminalMerge | null = null;
  #isStarted = false;
  #isDrained = false;
  #lastByteMs = 0;
  #bytes = 0;

  /** `engines` are all there are: output of another one is noticed. */
  constructor(engine: Engine, engines: readonly Engine[], start: AttemptStart) {
    this.#engine = engine;
    this.#mismatch = new EngineMismatch(engine, engines);
    this.#start = start;
    const { name, parser, parserVersion } = engine;
    const waitsForSession = engine.promises.session === 'early';
    const usageEndsStep = engine.promises.usage === 'after step';
    this.#writer = new EventWriter({ ...start, engine: name, parser, parserVersion, waitsForSession, usageEndsStep });
    this.#attempt = new Attempt(engine, this.#writer);
    this.#ledgers = {
      stdout: new CoverageLedger(),
      stderr: new CoverageLedger(),
      pty: new CoverageLedger(),
      stdin: new CoverageLedger(),
    };
    this.#framers = {
      stdout: this.#createFramer('stdout', (frame) => this.#read(frame)),
      stderr: this.#createFramer('stderr', (frame) => this.#read(frame)),
      pty: this.#createFramer('pty', (frame) => {
        if (start.terminalOnly) this.#read(frame);
        else this.#terminal?.addTerminal(frame);
      }),
      stdin: this.#createFramer('stdin', (frame) => this.#readSent(frame)),
    };
  }

  /** Takes the next bytes of a stream, which came at a time. */
  push(stream: CapturedStream, bytes: Uint8Array, atMs: number): Emitted[] {
    if (bytes.length === 0) return [];
    this.#begin(atMs);
    this.#ledgers[stream].receive(bytes.length);
    if (stream !== 'stdin') {
      this.#lastByteMs = atMs;
      this.#bytes += bytes.length;
    }
    if (stream === 'pty') {
      if (!this.#start.terminalOnly) this.#terminal ??= this.#meetTerminal();
    } else if (stream !== 'stdin' && this.#terminal === null) this.#recent[stream].add(bytes);
    this.#framers[stream].push(bytes);
    return this.#writer.take();
  }

  /** Marks the end of the bytes: reports what is still open, and returns the state as a whole. */
  drain(exit: ProcessExit, atMs: number): Drained {
    this.#readRest(exit, atMs);
    return { events: this.#writer.take(), ...this.peek() };
  }

  /** Returns the state according to the bytes so far. */
  peek(): Omit<Drained, 'events'> {
    const { endSignal, runtimeError, usage } = this.#attempt.report.outcome;
    return {
      doneMarker: this.#attempt.report.messages.doneMarkers > 0,
      endSignal,
      runtimeError,
      sessionId: this.#writer.sessionId,
      usage,
    };
  }

  /** The process has ended. */
  end(end: AttemptEnd, atMs: number): Emitted[] {
    this.#readRest(end, atMs);
    const silenceMs = this.#bytes === 0 ? 0 : atMs - this.#lastByteMs;
    const { mode } = this.#start;
    endAttempt(this.#attempt.report, this.#writer, { engine: this.#engine, mode, end, bytes: this.#bytes, silenceMs });
    return this.#writer.take();
  }

  coverage(): Coverage {
    const { stdout, stderr, pty, stdin } = this.#ledgers;
    return { stdout: stdout.report(), stderr: stderr.report(), pty: pty.report(), stdin: stdin.report() };
  }

  /** Unknown types and fields in the engine's output; null if there are none. */
  drift(): DriftSummary | null {
    return this.#attempt.drift.summary({
      run_id: this.#start.runId,
      attempt_number: this.#start.attempt,
      engine: this.#engine.name,
      engine_version: this.#attempt.report.version,
    });
  }

  #readRest(exit: ProcessExit, atMs: number): void {
    this.#begin(atMs);
    if (this.#isDrained) return;
    this.#isDrained = true;
    for (const framer of Object.values(this.#framers)) framer.end();
    this.#terminal?.end();
    this.#attempt.endReading(exit);
    startUnnamed(this.#attempt.report, this.#writer, this.#engine);
    this.#writer.publishWaiting();
    this.#warnAboutMismatch();
  }

  /** The first event says what follows: a fresh attempt, or the answer to the one before. */
  #begin(atMs: number): void {
    this.#writer.time = toTimestamp(atMs);
    if (this.#isStarted) return;
    this.#isStarted = true;
    const { mode, attempt, reply, sessionId, cachedFrom, isGuess } = this.#start;
    const resumed = reply !== null || sessionId !== null;
    const cached = cachedFrom === null ? undefined : { cached_from: cachedFrom };
    this.#writer.write('lifecycle.run.started', { mode, resumed, ...cached });
    if (isGuess) this.#writer.warn('UNKNOWN_ENGINE_PROFILE', undefined, { confidence: GUESS_CONFIDENCE });
    if (reply === null) return;
    const id = `ix_${Math.max(1, attempt - 1)}`;
    this.#writer.write('interaction.user_input.replied', { interaction_id: id, text: reply }, { interaction_id: id });
  }

  #createFramer(stream: CapturedStream, onFrame: (frame: Frame) => void): Framer {
    const ledger = this.#ledgers[stream];
    return createFramer({
      ...this.#framing(stream),
      onFrame(frame) {
        ledger.claim(frame.from, frame.to);
        onFrame(frame);
      },
    });
  }

  #framing(stream: CapturedStream) {
    const { framing } = this.#engine;
    return { stream, framing, recognises: (value: object) => this.#engine.detect(value) > 0 };
  }

  /** The first byte of a terminal: the earlier output of the streams is read again, to be compared. */
  #meetTerminal(): TerminalMerge {
    const terminal = new TerminalMerge(this.#engine, this.#attempt, this.#writer);
    for (const stream of ['stdout', 'stderr'] as const) {
      const recent = this.#recent[stream];
      const framer = createFramer({ ...this.#framing(stream), onFrame: (frame) => terminal.main.add(frame) });
      framer.push(recent.take());
      if (recent.isCut) terminal.main.hasForgotten = true;
    }
    return terminal;
  }

  #warnAboutMismatch(): void {
    const other = this.#mismatch.other?.name;
    if (other === undefined) return;
    const message = `Nothing here is what ${this.#engine.name} prints, but ${other} prints such records.`;
    this.#attempt.report.warning('ENGINE_MISMATCH', message, { subject: other });
  }

  /** Reads what was sent to the agent; engines without a conversation ignore it. */
  #readSent(frame: Frame): void {
    if (this.#engine.readsInput === true && (frame.kind === 'json' || frame.kind === 'text')) this.#attempt.read(frame);
  }

  #read(frame: Frame): void {
    if (frame.kind === 'json') this.#mismatch.look(frame.value);
    if (frame.kind === 'json' || frame.kind === 'text') this.#attempt.read(frame);
    else if (frame.kind === 'script') this.#attempt.setAside(frame);
    else this.#attempt.readBlank(frame);
    this.#terminal?.main.add(frame);
  }
}

/** From this confidence on, a value counts as printed by another program. */
const SURE = 0.9;

/** Values looked at; by then a program has shown what it is. */
const MAX_VALUES = 200;

/** Detects output of a different program than the one that was named. */
class EngineMismatch {
  readonly #engine: Engine;
  readonly #engines: readonly Engine[];
  #other: Engine | null = null;
  #left = MAX_VALUES;

  constructor(engine: Engine, engines: readonly Engine[]) {
    this.#engine = engine;
    this.#engines = engines;
  }

  /** The engine that prints what this one does not; null once a single value was its own. */
  get other(): Engine | null {
    return this.#other;
  }

  look(value: object): void {
    if (this.#left === 0) return;
    if (this.#engine.detect(value) > 0) {
      this.#left = 0;
      this.#other = null;
      return;
    }
    this.#left -= 1;
    this.#other ??= this.#engines.find((engine) => engine.detect(value) >= SURE) ?? null;
  }
}
