import { getErrorMessage, SluiceError } from '../../base/index.js';
import { engineName, isEngineName } from '../protocol/engine-names.js';
import type { Engine, Reader } from './engine.js';
import type { Emit } from './fact.js';
import type { Coverage, Emitted } from '../protocol/translator-output.js';
import { createTranslator } from '../translator.js';

const NAME = new RegExp(engineName.pattern, 'u');
/** The prefix of warnings about an exception in an engine's code. */
const READER_THREW = 'The reader threw an error: ';
const RESERVED = ['auto', 'command'];

/**
 * Checks a custom engine, and guards it: if its code throws, the frame becomes raw with a warning, and the run
 * continues. Pass the result to `createTranslator`, `startRun` or `replayRunFolder` as `engines`.
 *
 * @example
 * const echoEngine = defineEngine({
 *   name: 'echo',
 *   parser: 'echo_lines',
 *   parserVersion: '1',
 *   framing: 'text',
 *   guarantees: { session: 'never', endSignal: false },
 *   detect: () => 0,
 *   readSession: () => null,
 *   createReader: (emit) => ({
 *     json: () => emit({ fact: 'noise' }),
 *     text: ({ text }) => emit({ fact: 'message', text }),
 *     end: () => undefined,
 *   }),
 * })
 * createTranslator({ engine: 'echo', engines: [echoEngine], runId: 'r1', attempt: 1 })
 */
export function defineEngine(engine: Engine): Engine {
  const { name, parser } = engine;
  if (!NAME.test(name) || RESERVED.includes(name))
    throw createEngineError(
      name,
      'its name must start with a letter, consist of a-z, 0-9, _ and -, and must not be "auto" or "command"',
    );
  if (isEngineName(name)) throw createEngineError(name, 'a built-in engine has this name');
  if (!NAME.test(parser))
    throw createEngineError(name, 'its parser must start with a letter and consist of a-z, 0-9, _ and -');
  return {
    ...engine,
    detect: (value) => guard(() => engine.detect(value), 0),
    detectText: (line) => guard(() => engine.detectText?.(line) ?? 0, 0),
    readSession: (value) => guard(() => engine.readSession(value), null),
    createReader: (emit) => guardReader(engine.createReader(emit), emit),
  };
}

function guardReader(reader: Reader, emit: Emit): Reader {
  const attempt = (fact: 'unparsed' | 'warning', read: () => void): void => {
    try {
      read();
    } catch (error) {
      const message = `${READER_THREW}${getErrorMessage(error)}`;
      emit({ fact, code: 'UNPARSED_CONTENT_FELL_BACK_TO_RAW', message });
    }
  };
  return {
    json: (frame) => attempt('unparsed', () => reader.json(frame)),
    text: (frame) => attempt('unparsed', () => reader.text(frame)),
    blank: (frame) => guard(() => reader.blank?.(frame), undefined),
    // The last frame was already reported, so it does not become raw.
    end: (exit) => attempt('warning', () => reader.end(exit)),
  };
}

function guard<T>(run: () => T, fallback: T): T {
  try {
    return run();
  } catch {
    return fallback;
  }
}

function createEngineError(name: string, reason: string): SluiceError {
  return new SluiceError('INVALID_ENGINE', `Invalid engine ${JSON.stringify(name)}: ${reason}.`);
}

/** An agent's recorded output. */
export interface EngineRecording {
  readonly stdout?: string | Uint8Array;
  readonly stderr?: string | Uint8Array;
  /** 0 by default. */
  readonly exitCode?: number | null;
}

/** The maximum size of a recording that is also read byte by byte, which takes long. */
const MAX_BYTES = 64 * 1024;
const DAMAGED_COPIES = 40;

/**
 * Checks an engine against its contract, with recordings of its agent: every byte is claimed once, the events do not depend on
 * chunking, some of the output is recognized, and damaged input does not make it throw. Returns the problems; an empty
 * list is a pass.
 *
 * @example
 * checkEngine(echoEngine, [{ stdout: 'answer: Hello\\n' }]) // []
 */
export function checkEngine(engine: Engine, recordings: readonly EngineRecording[]): string[] {
  const problems = recordings.length === 0 ? ['No recordings to check the engine with.'] : [];
  for (const [index, recording] of recordings.entries()) {
    const add = (problem: string): number => problems.push(`Recording ${index}: ${problem}`);
    try {
      for (const problem of checkRecording(engine, recording)) add(problem);
    } catch (error) {
      add(`The engine threw an error: ${getErrorMessage(error)}`);
    }
  }
  return problems;
}

function* checkRecording(engine: Engine, recording: EngineRecording): Generator<string> {
  const bytes = { stdout: toBytes(recording.stdout), stderr: toBytes(recording.stderr) };
  const exitCode = recording.exitCode ?? 0;
  const complete = translate(engine, bytes, exitCode, Number.POSITIVE_INFINITY);
  yield* listCoverageProblems(complete.coverage);
  const isRecognized = complete.emitted.some(
    ({ protocol, event }) =>
      protocol === 'rasp' && event.raw_ref !== null && !/^(?:raw|diagnostic(?!\.engine))\./u.test(event.event.type),
  );
  const exceptions = complete.emitted.flatMap(({ protocol, event }) =>
    protocol === 'fcmp' && event.type === 'diagnostic.warning' && event.data.message.startsWith(READER_THREW)
      ? [event.data.message]
      : [],
  );
  yield* new Set(exceptions);
  if (!isRecognized) yield 'Nothing was recognized; every frame is raw.';
  const isSmall = bytes.stdout.length + bytes.stderr.length <= MAX_BYTES;
  for (const size of isSmall ? [1, 7, 4096] : [4096]) {
    const chunked = translate(engine, bytes, exitCode, size);
    if (JSON.stringify(chunked.emitted) !== JSON.stringify(complete.emitted))
      yield `The events are different if the bytes arrive in chunks of size ${size}.`;
  }
  for (let seed = 1; seed <= DAMAGED_COPIES; seed += 1) {
    const damaged = translate(engine, { ...bytes, stdout: damage(bytes.stdout, seed) }, exitCode, 4096);
    const [problem] = listCoverageProblems(damaged.coverage);
    if (problem !== undefined) {
      yield `With damaged input: ${problem}`;
      return;
    }
  }
}

type Streams = Readonly<Record<'stdout' | 'stderr', Uint8Array>>;

function translate(engine: Engine, streams: Streams, exitCode: number | null, size: number) {
  const { name } = engine;
  const translator = createTranslator({ engine: name, engines: [engine], runId: 'check', attempt: 1, clock: () => 0 });
  const emitted: Emitted[] = [];
  for (const stream of ['stdout', 'stderr'] as const) {
    const bytes = streams[stream];
    for (let from = 0; from < bytes.length; from += size)
      emitted.push(...translator.push(stream, bytes.subarray(from, Math.min(bytes.length, from + size))));
  }
  emitted.push(...translator.end({ exitCode, signal: null }));
  return { emitted, coverage: translator.coverage() };
}

function* listCoverageProblems({ stdout, stderr }: Coverage): Generator<string> {
  for (const [name, { unclaimed, doubled }] of Object.entries({ stdout, stderr })) {
    const [gap] = unclaimed;
    const [doubledRange] = doubled;
    if (gap !== undefined) yield `Bytes ${gap.join('–')} of ${name} are not in any frame.`;
    if (doubledRange !== undefined) yield `Bytes ${doubledRange.join('–')} of ${name} are in more than one frame.`;
  }
}

/** Returns a copy with one section removed, repeated or overwritten; the seed determines which. */
function damage(bytes: Uint8Array, seed: number): Uint8Array {
  const length = bytes.length;
  const from = Math.floor((((seed * 2_654_435_761) % 4_294_967_296) / 4_294_967_296) * length);
  const to = Math.min(length, from + 1 + ((seed * 31) % 64));
  const section = bytes.subarray(from, to);
  const overwritten = section.map((byte) => (byte * 7 + seed) % 256);
  const replacement = [[], [...section, ...section], [...overwritten]][seed % 3] ?? [];
  const damaged = new Uint8Array(length - section.length + replacement.length);
  damaged.set(bytes.subarray(0, from));
  damaged.set(replacement, from);
  damaged.set(bytes.subarray(to), from + replacement.length);
  return damaged;
}

function toBytes(output: string | Uint8Array | undefined): Uint8Array {
  return typeof output === 'string' ? new TextEncoder().encode(output) : (output ?? new Uint8Array());
}
