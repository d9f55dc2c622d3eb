import { SluiceError } from '../base/index.js';
import type { AttemptEnd } from './end/attempt-end.js';
import type { Engine, ProcessExit, TranslatorOptions } from './engines/engine.js';
import { genericEngine } from './engines/generic/generic-engine.js';
import { ENGINES } from './engines/index.js';
import type { Coverage, DriftSummary, Emitted, DrainResult, StreamCoverage } from './protocol/translator-output.js';
import { perStream, type CapturedStream } from './protocol/event-parts.js';
import { CoverageLedger, StreamTranslator, SURE_CONFIDENCE } from './translate/stream-translator.js';
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
  const detector = new EngineDetector(knownEngines);
  /** Null until the engine is detected. */
  let translator: StreamTranslator | null = null;
  let heldPushes: { readonly stream: CapturedStream; readonly bytes: Uint8Array; readonly atMs: number }[] = [];
  let hasEnded = false;
  let isDrained = false;
  if (options.engine !== 'auto')
    translator = new StreamTranslator(findEngine(options.engine, knownEngines), knownEngines, options);

  /** Decides on an engine, once. The held bytes are then read as if it had been known when they arrived. */
  function decide(): { readonly decided: StreamTranslator; readonly emitted: Emitted[] } {
    if (translator !== null) return { decided: translator, emitted: [] };
    const engine = detector.end();
    const decided = new StreamTranslator(engine ?? genericEngine, knownEngines, options, engine === null);
    const emitted = heldPushes.flatMap(({ stream, bytes, atMs }) => decided.push(stream, bytes, atMs));
    heldPushes = [];
    translator = decided;
    return { decided, emitted };
  }

  return {
    push(stream, bytes) {
      if (hasEnded || isDrained)
        throw new SluiceError('TRANSLATOR_ENDED', 'This attempt has ended. Create a translator for each attempt.');
      const atMs = clock();
      if (translator !== null) return translator.push(stream, bytes, atMs);
      heldPushes.push({ stream, bytes: bytes.slice(), atMs });
      return detector.push(stream, bytes) ? decide().emitted : [];
    },
    drain(exit = UNKNOWN_EXIT) {
      if (hasEnded) throw new SluiceError('TRANSLATOR_ENDED', 'This attempt has ended. Call drain() before end().');
      isDrained = true;
      const { decided, emitted } = decide();
      const drained = decided.drain(exit, clock());
      return { ...drained, events: [...emitted, ...drained.events] };
    },
    peek: () =>
      translator?.peek() ?? { doneMarker: false, endSignal: null, runtimeError: null, sessionId: null, usage: null },
    end(end) {
      if (hasEnded) throw new SluiceError('TRANSLATOR_ENDED', 'This attempt has ended. Call end() once.');
      hasEnded = true;
      const { decided, emitted } = decide();
      return [...emitted, ...decided.end(end, clock())];
    },
    coverage: () => translator?.coverage() ?? perStream((stream) => measureHeld(stream)),
    drift: () => translator?.drift() ?? null,
  };

  function measureHeld(stream: CapturedStream): StreamCoverage {
    const ledger = new CoverageLedger();
    for (const held of heldPushes) if (held.stream === stream) ledger.receive(held.bytes.length);
    return ledger.report();
  }
}

function findEngine(name: string, known: readonly Engine[]): Engine {
  const engine = known.find((one) => one.name === name);
  if (engine !== undefined) return engine;
  const names = ['auto', ...known.map((one) => one.name)].join(', ');
  throw new SluiceError('UNKNOWN_ENGINE', `Unknown engine ${JSON.stringify(name)}. Use one of: ${names}.`);
}

/** Below this confidence, no engine is detected. */
const MIN_SCORE = 0.3;
/** Limits on the examined bytes and frames; beyond them, the best match is used. */
const MAX_BYTES = 256 * 1024;
const MAX_FRAMES = 500;

/** Detects the agent that printed the first frames. */
class EngineDetector {
  readonly #engines: readonly Engine[];
  readonly #framers: Readonly<Record<CapturedStream, Framer>>;
  #bestMatch: Engine | null = null;
  #bestScore = 0;
  #bytes = 0;
  #frames = 0;

  constructor(engines: readonly Engine[]) {
    this.#engines = engines;
    const recognizes = (value: object): boolean => engines.some((engine) => engine.detect(value) > 0);
    this.#framers = perStream((stream) =>
      createFramer({ stream, framing: 'json', recognizes, onFrame: (frame) => this.#examine(frame) }),
    );
  }

  /** Reads the next bytes; true if more would not change the result. The engine is not detected from the input. */
  push(stream: CapturedStream, bytes: Uint8Array): boolean {
    if (stream !== 'stdin') this.#framers[stream].push(bytes);
    return this.#isSettled;
  }

  /** Returns the best match, or null if the engine cannot be detected. */
  end(): Engine | null {
    for (const framer of Object.values(this.#framers)) framer.end();
    return this.#bestScore >= MIN_SCORE ? this.#bestMatch : null;
  }

  get #isSettled(): boolean {
    return this.#bestScore >= SURE_CONFIDENCE || this.#bytes > MAX_BYTES || this.#frames > MAX_FRAMES;
  }

  /** Frames after the decision are ignored, so the result does not depend on chunking. */
  #examine(frame: Frame): void {
    if (this.#isSettled) return;
    this.#frames += 1;
    this.#bytes += frame.to - frame.from;
    for (const engine of this.#engines) {
      let score = 0;
      if (frame.kind === 'json') score = engine.detect(frame.value);
      if (frame.kind === 'text') score = engine.detectText?.(frame.text) ?? 0;
      if (score <= this.#bestScore) continue;
      this.#bestMatch = engine;
      this.#bestScore = score;
    }
  }
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
