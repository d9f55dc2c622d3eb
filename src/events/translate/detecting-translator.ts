import type { AttemptEnd } from '../end/attempt-end.js';
import type { Engine, ProcessExit } from '../engines/engine.js';
import type { Coverage, StreamCoverage, DriftSummary, Emitted, DrainResult } from '../protocol/translator-output.js';
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
 * Translates an attempt whose engine is unknown. The first bytes are held back until the engine is detected; then they
 * are read as if the engine had been known from the start, with their original arrival times.
 */
export class DetectingTranslator {
  readonly #start: AttemptStart;
  readonly #engines: readonly Engine[];
  readonly #fallback: Engine;
  readonly #detector: EngineDetector;
  #heldPushes: HeldPush[] = [];
  #translator: StreamTranslator | null = null;

  constructor(engines: readonly Engine[], fallback: Engine, start: AttemptStart) {
    this.#start = start;
    this.#engines = engines;
    this.#fallback = fallback;
    this.#detector = new EngineDetector(engines);
  }

  push(stream: CapturedStream, bytes: Uint8Array, atMs: number): Emitted[] {
    if (this.#translator !== null) return this.#translator.push(stream, bytes, atMs);
    this.#heldPushes.push({ stream, bytes: bytes.slice(), atMs });
    // The engine is not detected from the input.
    if (stream !== 'stdin') this.#detector.push(stream, bytes);
    return this.#detector.isSettled ? this.#decide().emitted : [];
  }

  drain(exit: ProcessExit, atMs: number): DrainResult {
    if (this.#translator !== null) return this.#translator.drain(exit, atMs);
    this.#detector.end();
    const { translator, emitted } = this.#decide();
    const drained = translator.drain(exit, atMs);
    return { ...drained, events: [...emitted, ...drained.events] };
  }

  peek(): Omit<DrainResult, 'events'> {
    const emptyState = { doneMarker: false, endSignal: null, runtimeError: null, sessionId: null, usage: null };
    return this.#translator?.peek() ?? emptyState;
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
      stdout: this.#describeHeld('stdout'),
      stderr: this.#describeHeld('stderr'),
      pty: this.#describeHeld('pty'),
      stdin: this.#describeHeld('stdin'),
    };
  }

  drift(): DriftSummary | null {
    return this.#translator?.drift() ?? null;
  }

  #decide(): { readonly translator: StreamTranslator; readonly emitted: Emitted[] } {
    const { engine } = this.#detector;
    const start = { ...this.#start, isGuess: engine === null };
    const translator = new StreamTranslator(engine ?? this.#fallback, this.#engines, start);
    const emitted: Emitted[] = [];
    for (const { stream, bytes, atMs } of this.#heldPushes) {
      for (const item of translator.push(stream, bytes, atMs)) emitted.push(item);
    }
    this.#heldPushes = [];
    this.#translator = translator;
    return { translator, emitted };
  }

  #describeHeld(stream: CapturedStream): StreamCoverage {
    const bytes = this.#heldPushes.reduce((sum, push) => (push.stream === stream ? sum + push.bytes.length : sum), 0);
    return { bytes, claimed: 0, unclaimed: bytes === 0 ? [] : [[0, bytes]], doubled: [] };
  }
}

/** A single frame with at least this confidence is sufficient. */
const SURE_CONFIDENCE = 0.9;
/** Below this confidence, no engine is detected. */
const MIN_SCORE = 0.3;
/** Limits on the examined bytes and frames; beyond them, the best match is used. */
const MAX_BYTES = 256 * 1024;
const MAX_FRAMES = 500;

/** Detects the agent that printed the first frames. */
class EngineDetector {
  readonly #engines: readonly Engine[];
  readonly #framers: Readonly<Record<StreamName, Framer>>;
  #bestMatch: Engine | null = null;
  #bestScore = 0;
  #bytes = 0;
  #frames = 0;

  constructor(engines: readonly Engine[]) {
    this.#engines = engines;
    const open = (stream: StreamName): Framer =>
      createFramer({
        stream,
        framing: 'json',
        recognizes: (value) => engines.some((engine) => engine.detect(value) > 0),
        onFrame: (frame) => this.#examine(frame),
      });
    this.#framers = { stdout: open('stdout'), stderr: open('stderr'), pty: open('pty') };
  }

  /** Whether more bytes would not change the result. */
  get isSettled(): boolean {
    return this.#bestScore >= SURE_CONFIDENCE || this.#bytes > MAX_BYTES || this.#frames > MAX_FRAMES;
  }

  /** The best match so far, or null. */
  get engine(): Engine | null {
    return this.#bestScore >= MIN_SCORE ? this.#bestMatch : null;
  }

  push(stream: StreamName, bytes: Uint8Array): void {
    this.#framers[stream].push(bytes);
  }

  end(): void {
    for (const framer of Object.values(this.#framers)) framer.end();
  }

  /** Frames after the decision are ignored, so the result does not depend on chunking. */
  #examine(frame: Frame): void {
    if (this.isSettled) return;
    this.#frames += 1;
    this.#bytes += frame.to - frame.from;
    for (const engine of this.#engines) {
      const score = scoreFrame(engine, frame);
      if (score <= this.#bestScore) continue;
      this.#bestMatch = engine;
      this.#bestScore = score;
    }
  }
}

function scoreFrame(engine: Engine, frame: Frame): number {
  if (frame.kind === 'json') return engine.detect(frame.value);
  return frame.kind === 'text' ? (engine.detectText?.(frame.text) ?? 0) : 0;
}
