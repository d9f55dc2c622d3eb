import { SluiceError } from '../base/index.js';
import type { AttemptEnd } from './end/attempt-end.js';
import type { Engine, ProcessExit } from './engines/engine.js';
import { genericEngine } from './engines/generic/generic-engine.js';
import { ENGINES } from './engines/index.js';
import type { Coverage, DriftSummary, Emitted, DrainResult } from './protocol/translator-output.js';
import type { EngineName } from './protocol/engine-names.js';
import type { CapturedStream } from './protocol/event-parts.js';
import { DetectingTranslator } from './translate/detecting-translator.js';
import { StreamTranslator } from './translate/stream-translator.js';

const UNKNOWN_EXIT: ProcessExit = { exitCode: null, signal: null };

/** Options for a translator. */
export interface TranslatorOptions {
  /** The engine that printed the bytes: a built-in engine or one of `engines`; `auto` detects it from the bytes. */
  readonly engine: EngineName | 'auto' | (string & {});
  /** Additional engines, created with `defineEngine`. */
  readonly engines?: readonly Engine[] | undefined;
  readonly runId: string;
  /** The number of the attempt, counted from 1. */
  readonly attempt: number;
  /**
   * `interactive` (default): the agent may ask questions, which a user answers. `auto`: the verdict on the output
   * decides whether the run succeeds.
   */
  readonly mode?: 'auto' | 'interactive' | undefined;
  /** The last FCMP number the run has used; 0 for the first attempt. */
  readonly fcmpSeq?: number | undefined;
  /** The session this attempt resumes. */
  readonly sessionId?: string | undefined;
  /** The answer this attempt was started with. */
  readonly reply?: string | undefined;
  /** The run whose cached result is repeated. */
  readonly cachedFrom?: string | undefined;
  /**
   * Whether the terminal is the only stream: its output is then reported immediately, without comparing it with other
   * streams.
   */
  readonly terminalOnly?: boolean | undefined;
  /** Returns milliseconds since 1970; called once per push. */
  readonly clock?: (() => number) | undefined;
}

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
  const {
    runId,
    attempt,
    mode = 'interactive',
    fcmpSeq = 0,
    sessionId = null,
    reply = null,
    cachedFrom = null,
    terminalOnly = false,
    clock = Date.now,
    engines = [],
  } = options;
  const knownEngines = [...engines, ...Object.values(ENGINES)];
  const start = { runId, attempt, mode, fcmpSeq, sessionId, reply, cachedFrom, terminalOnly, isGuess: false };
  const translator =
    options.engine === 'auto'
      ? new DetectingTranslator(knownEngines, genericEngine, start)
      : new StreamTranslator(findEngine(options.engine, knownEngines), knownEngines, start);
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
