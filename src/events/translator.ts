import { SluiceError } from '../base/index.js';
import type { AttemptEnd } from './end/attempt-end.js';
import type { Engine, ProcessExit } from './engines/engine.js';
import { genericEngine } from './engines/generic/generic-engine.js';
import { ENGINES } from './engines/index.js';
import type { Coverage, DriftSummary, Emitted, DrainResult } from './protocol/translator-output.js';
import { perStream, type CapturedStream, type StreamName } from './protocol/event-parts.js';
import {
  CoverageLedger,
  StreamTranslator,
  SURE_CONFIDENCE,
  type TranslatorOptions,
} from './translate/stream-translator.js';
import type { Frame } from './framing/frame.js';
import { createFramer, type Framer } from './framing/framer.js';
import { EventWriter, toTimestamp } from './mapping/event-writer.js';
import type { FcmpEvent } from './protocol/fcmp-event.js';
import type { RaspData, RaspEvent } from './protocol/rasp-event.js';

const UNKNOWN_EXIT: ProcessExit = { exitCode: null, signal: null };

/** Turns the bytes of one attempt into events. */
export interface Translator {
  /** Reads the next bytes of a stream, or of the agent's input (`stdin`); they can be split anywhere. */
  push(stream: CapturedStream, bytes: Uint8Array): Emitted[];
  /**
   * Marks the end of the bytes: emits pending events, and returns the final state. `end` includes this; call `drain` first if you
   * need the last output to determine a verdict. Some engines print errors as plain text, which only the exit code distinguishes
   * from an answer: pass the same exit as to `end`.
   */
  drain(exit?: ProcessExit): DrainResult;
  /** Returns the current state without ending the attempt: whether the agent has ended its turn, and how. */
  peek(): Omit<DrainResult, 'events'>;
  /** Ends the attempt after the process has exited: emits pending events and judges how the attempt ended. */
  end(end: AttemptEnd): Emitted[];
  /** Returns the bytes covered by frames so far. */
  coverage(): Coverage;
  /** Returns the counts of unknown types and fields, or null if everything was known. */
  drift(): DriftSummary | null;
}

/**
 * Translates an agent's output into RASP and FCMP, live or from a recording: the events depend on the bytes, the order of
 * the streams and the clock, never on where the bytes are split. Invalid bytes never throw.
 *
 * @example
 * const translator = createTranslator({ engine: 'codex', runId: 'r1', attempt: 1 })
 * for (const { protocol, event } of translator.push('stdout', bytes)) if (protocol === 'fcmp') show(event)
 * translator.end({ exitCode: 0, signal: null })
 */
export function createTranslator(options: TranslatorOptions): Translator {
  const { clock = Date.now, engines = [] } = options;
  const knownEngines = [...engines, ...Object.values(ENGINES)];
  const translator =
    options.engine === 'auto'
      ? new DetectingTranslator(knownEngines, options)
      : new StreamTranslator(findEngine(options.engine, knownEngines), knownEngines, options);
  let hasEnded = false;
  let isDrained = false;
  return {
    push(stream, bytes) {
      if (hasEnded || isDrained)
        throw new SluiceError('TRANSLATOR_ENDED', 'This attempt has ended. Create a translator for each attempt.');
      return translator.push(stream, bytes, clock());
    },
    drain(exit = UNKNOWN_EXIT) {
      if (hasEnded) throw new SluiceError('TRANSLATOR_ENDED', 'This attempt has ended. Call drain() before end().');
      isDrained = true;
      return translator.drain(exit, clock());
    },
    peek: () => translator.peek(),
    end(end) {
      if (hasEnded) throw new SluiceError('TRANSLATOR_ENDED', 'This attempt has ended. Call end() once.');
      hasEnded = true;
      return translator.end(end, clock());
    },
    coverage: () => translator.coverage(),
    drift: () => translator.drift(),
  };
}

function findEngine(name: string, known: readonly Engine[]): Engine {
  const engine = known.find((one) => one.name === name);
  if (engine !== undefined) return engine;
  const names = ['auto', ...known.map((one) => one.name)].join(', ');
  throw new SluiceError('UNKNOWN_ENGINE', `Unknown engine ${JSON.stringify(name)}. Use one of: ${names}.`);
}

/**
 * Translates an attempt whose engine is unknown. The first bytes are held back until the engine is detected; then they
 * are read as if the engine had been known from the start, with their original arrival times.
 */
class DetectingTranslator {
  readonly #options: TranslatorOptions;
  readonly #engines: readonly Engine[];
  readonly #detector: EngineDetector;
  #heldPushes: { readonly stream: CapturedStream; readonly bytes: Uint8Array; readonly atMs: number }[] = [];
  #translator: StreamTranslator | null = null;

  constructor(engines: readonly Engine[], options: TranslatorOptions) {
    this.#options = options;
    this.#engines = engines;
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
    const { translator, emitted } = this.#decide();
    const drained = translator.drain(exit, atMs);
    return { ...drained, events: [...emitted, ...drained.events] };
  }

  peek(): Omit<DrainResult, 'events'> {
    const emptyState = { doneMarker: false, endSignal: null, runtimeError: null, sessionId: null, usage: null };
    return this.#translator?.peek() ?? emptyState;
  }

  end(end: AttemptEnd, atMs: number): Emitted[] {
    const { translator, emitted } = this.#decide();
    return [...emitted, ...translator.end(end, atMs)];
  }

  coverage(): Coverage {
    if (this.#translator !== null) return this.#translator.coverage();
    const ledgers = perStream(() => new CoverageLedger());
    for (const { stream, bytes } of this.#heldPushes) ledgers[stream].receive(bytes.length);
    return perStream((stream) => ledgers[stream].report());
  }

  drift(): DriftSummary | null {
    return this.#translator?.drift() ?? null;
  }

  /** Decides on an engine, once, from the bytes so far. */
  #decide(): { readonly translator: StreamTranslator; readonly emitted: Emitted[] } {
    if (this.#translator !== null) return { translator: this.#translator, emitted: [] };
    this.#detector.end();
    const { engine } = this.#detector;
    const translator = new StreamTranslator(engine ?? genericEngine, this.#engines, this.#options, engine === null);
    const emitted: Emitted[] = [];
    for (const { stream, bytes, atMs } of this.#heldPushes) {
      for (const item of translator.push(stream, bytes, atMs)) emitted.push(item);
    }
    this.#heldPushes = [];
    this.#translator = translator;
    return { translator, emitted };
  }
}

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

/** The answer to a permission request. */
export type PermissionAnswer = RaspData<'interaction.permission.replied'>;

/** The last events of an attempt, after which a late answer is numbered. */
export interface AttemptTail {
  readonly rasp: RaspEvent | null;
  readonly fcmp: FcmpEvent | null;
}

/** The tail of a run without events. */
export const NO_TAIL: AttemptTail = { rasp: null, fcmp: null };

/** Returns the last event of each protocol after these events. */
export function advanceTail(tail: AttemptTail, events: readonly Emitted[]): AttemptTail {
  let { rasp, fcmp } = tail;
  for (const emitted of events) {
    if (emitted.protocol === 'rasp') rasp = emitted.event;
    else fcmp = emitted.event;
  }
  return { rasp, fcmp };
}

/**
 * Creates the events of an answer that arrived when the process that asked had already been stopped. They belong to
 * the attempt that asked, because no later attempt exists yet.
 */
export function writeLateAnswer({ rasp, fcmp }: AttemptTail, answer: PermissionAnswer, atMs: number): Emitted[] {
  if (rasp === null || fcmp === null) return [];
  const { engine, parser, parser_version: parserVersion } = rasp.source;
  const writer = new EventWriter(
    { name: engine, parser, parserVersion },
    {
      runId: rasp.run_id,
      attempt: rasp.attempt_number,
      seq: rasp.seq,
      fcmpSeq: fcmp.seq,
      sessionId: rasp.correlation.session_id,
    },
  );
  // Times never decrease within a run, even if the clock was set back while it waited.
  writer.time = toTimestamp(Math.max(atMs, Date.parse(rasp.ts)));
  writer.write('interaction.permission.replied', answer, { interaction_id: answer.interaction_id });
  return writer.take();
}
