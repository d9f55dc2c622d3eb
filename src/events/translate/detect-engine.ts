import type { Engine } from '../engines/engine.js';
import type { Frame } from '../framing/frame.js';
import { createFramer } from '../framing/framer.js';
import type { Framer } from '../framing/framer.js';
import type { StreamName } from '../protocol/raw-ref.js';

/** From here on a frame settles the question by itself. */
const SURE = 0.9;
/** Under this, nothing was recognised. */
const DOUBTFUL = 0.3;
/** Bytes and frames looked at; then the best guess counts. */
const MAX_BYTES = 256 * 1024;
const MAX_FRAMES = 500;

/** Tells from the first frames which program printed them. */
export class EngineDetector {
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

  /** What comes after the answer is settled does not count: pushes may be cut anywhere. */
  #look(frame: Frame): void {
    if (this.isSettled) return;
    this.#frames += 1;
    this.#bytes += frame.to - frame.from;
    for (const engine of this.#engines) {
      const score = scoreOf(engine, frame);
      if (score <= this.#bestScore) continue;
      this.#best = engine;
      this.#bestScore = score;
    }
  }
}

function scoreOf(engine: Engine, frame: Frame): number {
  if (frame.kind === 'json') return engine.detect(frame.value);
  return frame.kind === 'text' ? (engine.detectText?.(frame.text) ?? 0) : 0;
}
