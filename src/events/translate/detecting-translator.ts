import type { AttemptEnd } from '../end/attempt-end.js';
import type { Engine, ProcessExit } from '../engines/engine.js';
import type { Coverage, StreamCoverage, DriftSummary, Emitted, Drained } from '../protocol/translator-output.js';
import type { CapturedStream, StreamName } from '../protocol/event-parts.js';
import type { Frame } from '../framing/frame.js';
import { createFramer } from '../framing/framer.js';
import type { Framer } from '../framing/framer.js';
import { StreamTranslator } from './stream-translator.js';
import type { AttemptStart } from './stream-translator.js';

interface HeldPush {
  readonly stream: CapturedStream;
  readonly bytes: Uint8Array;
  readonly atMs: number;
}

/**
 * Translates an attempt whose engine is not known. The first bytes are held back until they show which one it is;
 * then they are read as if that had been known from the start, at the times at which they came.
 */
export class DetectingTranslator {
  readonly #start: AttemptStart;
  readonly #engines: readonly Engine[];
  readonly #fallback: Engine;
  readonly #detector: EngineDetector;
  #held: HeldPush[] = [];
  #translator: StreamTranslator | null = null;

  constructor(engines: readonly Engine[], fallback: Engine, start: AttemptStart) {
    this.#start = start;
    this.#engines = engines;
    this.#fallback = fallback;
    this.#detector = new EngineDetector(engines);
  }

  push(stream: CapturedStream, bytes: Uint8Array, atMs: number): Emitted[] {
    if (this.#translator !== null) return this.#translator.push(stream, bytes, atMs);
    this.#held.push({ stream, bytes: bytes.slice(), atMs });
    // Input of a program does not show which one it is.
    if (stream !== 'stdin') this.#detector.push(stream, bytes);
    return this.#detector.isSettled ? this.#decide().emitted : [];
  }

  drain(exit: ProcessExit, atMs: number): Drained {
    if (this.#translator !== null) return this.#translator.drain(exit, atMs);
    this.#detector.end();
    const { translator, emitted } = this.#decide();
    const drained = translator.drain(exit, atMs);
    return { ...drained, events: [...emitted, ...drained.events] };
  }

  peek(): Omit<Drained, 'events'> {
    const nothing = { doneMarker: false, endSignal: null, runtimeError: null, sessionId: null, usage: null };
    return this.#translator?.peek() ?? nothing;
  }

  end(end: AttemptEnd, atMs: number): Emitted[] {
    if (this.#translator !== null) return this.#translator.end(end, atMs);
    this.#detector.end();
    const { translator, emitted } = this.#decide();
    return [...emitted, ...translator.end(end, atMs)];
  }

  coverage(): Coverage {
    if (this.#translator !== null) return this.#translator.coverage();
    return {
      stdout: this.#waiting('stdout'),
      stderr: this.#waiting('stderr'),
      pty: this.#waiting('pty'),
      stdin: this.#waiting('stdin'),
    };
  }

  drift(): DriftSummary | null {
    return this.#translator?.drift() ?? null;
  }

  #decide(): { readonly translator: StreamTranslator; readonly emitted: Emitted[] } {
    const { answer } = this.#detector;
    const start = { ...this.#start, isGuess: answer === null };
    const translator = new StreamTranslator(answer ?? this.#fallback, this.#engines, start);
    const emitted: Emitted[] = [];
    for (const { stream, bytes, atMs } of this.#held) {
      for (const one of translator.push(stream, bytes, atMs)) emitted.push(one);
    }
    this.#held = [];
    this.#translator = translator;
    return { translator, emitted };
  }

  #waiting(stream: CapturedStream): StreamCoverage {
    const bytes = this.#held.reduce((sum, push) => (push.stream === stream ? sum + push.bytes.length : sum), 0);
    return { bytes, claimed: 0, unclaimed: bytes === 0 ? [] : [[0, bytes]], doubled: [] };
  }
}

/** From here on a frame settles the question by itself. */
const SURE = 0.9;
/** Under this, nothing was recognised. */
const DOUBTFUL = 0.3;
/** Bytes and frames looked at; then the best guess counts. */
const MAX_BYTES = 256 * 1024;
const MAX_FRAMES = 500;

/** Detects from the first frames which program printed them. */
class EngineDetector {
  readonly #engines: readonly Engine[];
  readonly #framers: Readonly<Record<StreamName, Framer>>;
  #best: Engine | null = null;
  #bestScore = 0;
  #bytes = 0;
  #frames = 0;

  constructor(engines: readonly Engine[]) {
    this.#engines = engines;
    const open = (stream: StreamName): Framer =>
      createFramer({
        stream,
        framing: 'json',
        recognises: (value) => engines.some((engine) => engine.detect(value) > 0),
        onFrame: (frame) => this.#look(frame),
      });
    this.#framers = { stdout: open('stdout'), stderr: open('stderr'), pty: open('pty') };
  }

  /** Whether more bytes would not change the answer. */
  get isSettled(): boolean {
    return this.#bestScore >= SURE || this.#bytes > MAX_BYTES || this.#frames > MAX_FRAMES;
  }

  /** The engine that fits best so far; null if none does. */
  get answer(): Engine | null {
    return this.#bestScore >= DOUBTFUL ? this.#best : null;
  }

  push(stream: StreamName, bytes: Uint8Array): void {
    this.#framers[stream].push(bytes);
  }

  end(): void {
    for (const framer of Object.values(this.#framers)) framer.end();
  }

  /** Bytes after the detection do not count: pushes may be split anywhere. */
  #look(frame: Frame): void {
    if (this.isSettled) return;
    this.#frames += 1;
    this.#bytes += frame.to - frame.from;
    for (const engine of this.#engines) {
      const score = scoreFrame(engine, frame);
      if (score <= this.#bestScore) continue;
      this.#best = engine;
      this.#bestScore = score;
    }
  }
}

function scoreFrame(engine: Engine, frame: Frame): number {
  if (frame.kind === 'json') return engine.detect(frame.value);
  return frame.kind === 'text' ? (engine.detectText?.(frame.text) ?? 0) : 0;
}
