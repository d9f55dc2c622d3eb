import type { AttemptEnd } from '../end/attempt-end.js';
import type { Engine } from '../engines/engine.js';
import type { Coverage, StreamCoverage } from '../protocol/coverage.js';
import type { DriftSummary } from '../protocol/drift-summary.js';
import type { Emitted } from '../protocol/emitted.js';
import type { StreamName } from '../protocol/raw-ref.js';
import { EngineDetector } from './detect-engine.js';
import type { Drained } from './drained.js';
import { StreamTranslator } from './stream-translator.js';
import type { AttemptStart } from './stream-translator.js';

interface HeldPush {
  readonly stream: StreamName;
  readonly bytes: Uint8Array;
  readonly atMs: number;
}

/**
 * Translates an attempt whose engine is not known. The first bytes are held back until they tell which one it is;
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

  push(stream: StreamName, bytes: Uint8Array, atMs: number): Emitted[] {
    if (this.#translator !== null) return this.#translator.push(stream, bytes, atMs);
    this.#held.push({ stream, bytes: bytes.slice(), atMs });
    this.#detector.push(stream, bytes);
    return this.#detector.isSettled ? this.#decide().emitted : [];
  }

  drain(atMs: number): Drained {
    if (this.#translator !== null) return this.#translator.drain(atMs);
    this.#detector.end();
    const { translator, emitted } = this.#decide();
    const drained = translator.drain(atMs);
    return { ...drained, events: [...emitted, ...drained.events] };
  }

  end(end: AttemptEnd, atMs: number): Emitted[] {
    if (this.#translator !== null) return this.#translator.end(end, atMs);
    this.#detector.end();
    const { translator, emitted } = this.#decide();
    return [...emitted, ...translator.end(end, atMs)];
  }

  coverage(): Coverage {
    if (this.#translator !== null) return this.#translator.coverage();
    return { stdout: this.#waiting('stdout'), stderr: this.#waiting('stderr'), pty: this.#waiting('pty') };
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

  #waiting(stream: StreamName): StreamCoverage {
    const bytes = this.#held.reduce((sum, push) => (push.stream === stream ? sum + push.bytes.length : sum), 0);
    return { bytes, claimed: 0, unclaimed: bytes === 0 ? [] : [[0, bytes]], doubled: [] };
  }
}
