import type { AlignableSchema } from '../../../src/json/index.js';
import { inspect } from './inspect.js';
import type { InspectionInput, Inspection, SchemaProblem } from './inspection.js';
import { readSchemaText } from './read-schema-text.js';
import { startStream } from './stream-session.js';
import { suggestOptions } from './suggest-options.js';
import type { Suggestion } from './suggest-options.js';
import type { StreamSession, StreamView } from './stream-session.js';

/** The value of a longer text is written on one line: with indents it could take many times the room of the text. */
const MAX_INDENTED_LENGTH = 1_000_000;

/** Answers one question after the other, and keeps the last reading for what is asked about it. */
interface TextReader {
  answer(number: number, question: WorkerQuestion): WorkerAnswer;
}

interface LastReading {
  readonly number: number;
  readonly input: InspectionInput;
  readonly schema: AlignableSchema | undefined;
  readonly value: unknown;
  session: StreamSession;
}

/** Creates the logic of the worker, without the worker. */
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
    const { inspection, value, result } = inspect(text, schema, options);
    const tookMs = now() - began;
    last = { number, input, schema, value, session: startStream(text, schema, options) };
    return { kind: 'read', inspection, tookMs, suggestions: suggestOptions(text, schema, options, result) };
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
  return JSON.stringify(value, null, length > MAX_INDENTED_LENGTH ? 0 : 2) ?? '';
}

/** A request of the page to its worker. A reading is identified by the number of its request. */
export type WorkerQuestion =
  | { readonly kind: 'read'; readonly input: InspectionInput }
  /** The whole value of a reading, as JSON text. */
  | { readonly kind: 'write'; readonly reading: number }
  /** Restarts reading the text in chunks. */
  | { readonly kind: 'stream'; readonly reading: number }
  | { readonly kind: 'push'; readonly reading: number; readonly characters: number; readonly pieces: number };

/** A response of the worker. */
export type WorkerAnswer =
  | {
      readonly kind: 'read';
      readonly inspection: Inspection;
      readonly tookMs: number;
      readonly suggestions: readonly Suggestion[];
    }
  | { readonly kind: 'schema'; readonly problem: SchemaProblem }
  | { readonly kind: 'written'; readonly text: string }
  | { readonly kind: 'streamed'; readonly view: StreamView }
  /** Another text was read since: the request for the previous one is void. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'broken'; readonly message: string };

/** A question or an answer on its way; an answer has the number of its question. */
export interface Numbered<Message> {
  readonly number: number;
  readonly message: Message;
}
