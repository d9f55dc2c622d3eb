import { getErrorMessage, SluiceError } from '../../base/index.js';
import { engineName, isEngineName } from '../protocol/engine-names.js';
import type { Engine, Reader } from './engine.js';
import type { Emit } from './fact.js';

const NAME = new RegExp(engineName.pattern, 'u');
/** The prefix of warnings about an exception in an engine's code. */
export const READER_THREW = 'The reader threw an error: ';
/** Reserved names. */
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
  const attempt = (read: () => void): void => {
    try {
      read();
    } catch (error) {
      const message = `${READER_THREW}${getErrorMessage(error)}`;
      emit({ fact: 'unparsed', code: 'UNPARSED_CONTENT_FELL_BACK_TO_RAW', message });
    }
  };
  return {
    json: (frame) => attempt(() => reader.json(frame)),
    text: (frame) => attempt(() => reader.text(frame)),
    blank: (frame) => guard(() => reader.blank?.(frame), undefined),
    end(exit) {
      try {
        reader.end(exit);
      } catch (error) {
        // The last frame was already reported, so it does not become raw.
        const message = `${READER_THREW}${getErrorMessage(error)}`;
        emit({ fact: 'warning', code: 'UNPARSED_CONTENT_FELL_BACK_TO_RAW', message });
      }
    },
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
