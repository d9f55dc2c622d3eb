import type { AlignableSchema } from '../../../src/json/index.js';
import { inspect } from './inspect.js';
import type { InspectionInput } from './inspection.js';
import { readSchemaText } from './read-schema-text.js';
import { startStream } from './stream-session.js';
import type { StreamSession } from './stream-session.js';
import type { WorkerAnswer, WorkerQuestion } from './worker-messages.js';

/** The value of a longer text is written on one line: with indents it could take many times the room of the text. */
const LONGEST_INDENTED = 1_000_000;

/** Answers one question after the other, and keeps the last reading for what is asked about it. */
export interface TextReader {
  answer(number: number, question: WorkerQuestion): WorkerAnswer;
}

interface LastReading {
  readonly number: number;
  readonly input: InspectionInput;
  readonly schema: AlignableSchema | undefined;
  readonly value: unknown;
  session: StreamSession;
}

/** What the worker does, without the worker. */
export function createTextReader(now: () => number): TextReader {
  let last: LastReading | undefined;

  function read(number: number, input: InspectionInput): WorkerAnswer {
    const { text, schemaText, options } = input;
    const reading = readSchemaText(schemaText);
    if (!reading.ok) return { kind: 'schema', problem: reading.problem };
    // The next value is made while there is room for it.
    last = undefined;
    const { schema } = reading;
    const began = now();
    const { inspection, value } = inspect(text, schema, options);
    last = { number, input, schema, value, session: startStream(text, schema, options) };
    return { kind: 'read', inspection, tookMs: now() - began };
  }

  return {
    answer(number, question) {
      if (question.kind === 'read') return read(number, question.input);
      if (last?.number !== question.reading) return { kind: 'gone' };
      const { input, schema, value } = last;
      switch (question.kind) {
        case 'write':
          return { kind: 'written', text: writeValue(value, input.text.length) };
        case 'stream':
          last.session = startStream(input.text, schema, input.options);
          return { kind: 'streamed', view: last.session.push(1, 0) };
        case 'push':
          return { kind: 'streamed', view: last.session.push(question.characters, question.pieces) };
      }
    },
  };
}

function writeValue(value: unknown, length: number): string {
  return JSON.stringify(value, null, length > LONGEST_INDENTED ? 0 : 2) ?? '';
}
