import type { AlignableSchema } from '../../../src/json/index.js';
import { inspect } from './inspect.js';
import type { InspectionInput, Inspection, SchemaProblem } from './inspection.js';
import { readSchemaText } from './read-schema-text.js';
import { startStream } from './stream-session.js';
import { suggestOptions } from './suggest-options.js';
import type { Suggestion } from './suggest-options.js';
import type { StreamSession, StreamView } from './stream-session.js';

/** For longer input the value is formatted on one line: indented, it could be many times as long. */
const MAX_INDENTED_LENGTH = 1_000_000;

/** Handles requests one by one, and keeps the last reading for follow-up requests. */
interface TextReader {
  handle(number: number, request: WorkerRequest): WorkerResponse;
}

interface LastReading {
  readonly number: number;
  readonly input: InspectionInput;
  readonly schema: AlignableSchema | undefined;
  readonly value: unknown;
  session: StreamSession;
}

/** Creates the worker's request handler; tests use it without a worker. */
export function createTextReader(now: () => number): TextReader {
  let last: LastReading | undefined;

  function read(number: number, input: InspectionInput): WorkerResponse {
    const { text, schemaText, options } = input;
    const parsedSchema = readSchemaText(schemaText);
    if (!parsedSchema.ok) return { kind: 'schema', problem: parsedSchema.problem };
    // Frees the last value's memory before the next one is created.
    last = undefined;
    const { schema } = parsedSchema;
    const startedAt = now();
    const { inspection, value, result } = inspect(text, schema, options);
    const tookMs = now() - startedAt;
    last = { number, input, schema, value, session: startStream(text, schema, options) };
    return { kind: 'read', inspection, tookMs, suggestions: suggestOptions(text, schema, options, result) };
  }

  return {
    handle(number, request) {
      if (request.kind === 'read') return read(number, request.input);
      if (last?.number !== request.reading) return { kind: 'obsolete' };
      const { input, schema, value } = last;
      switch (request.kind) {
        case 'format':
          return { kind: 'formatted', text: formatValue(value, input.text.length) };
        case 'stream':
          last.session = startStream(input.text, schema, input.options);
          return { kind: 'streamed', view: last.session.push(1, 0) };
        case 'push':
          return { kind: 'streamed', view: last.session.push(request.chunkLength, request.chunkCount) };
      }
    },
  };
}

function formatValue(value: unknown, length: number): string {
  return JSON.stringify(value, null, length > MAX_INDENTED_LENGTH ? 0 : 2) ?? '';
}

/** A request from the page to its worker. A reading is identified by its request's number. */
export type WorkerRequest =
  | { readonly kind: 'read'; readonly input: InspectionInput }
  /** Requests a reading's complete value as JSON. */
  | { readonly kind: 'format'; readonly reading: number }
  /** Starts streaming the input from the beginning. */
  | { readonly kind: 'stream'; readonly reading: number }
  | { readonly kind: 'push'; readonly reading: number; readonly chunkLength: number; readonly chunkCount: number };

/** A response from the worker. */
export type WorkerResponse =
  | {
      readonly kind: 'read';
      readonly inspection: Inspection;
      readonly tookMs: number;
      readonly suggestions: readonly Suggestion[];
    }
  | { readonly kind: 'schema'; readonly problem: SchemaProblem }
  | { readonly kind: 'formatted'; readonly text: string }
  | { readonly kind: 'streamed'; readonly view: StreamView }
  /** Other input was parsed since then, so the request is obsolete. */
  | { readonly kind: 'obsolete' }
  | { readonly kind: 'failed'; readonly message: string };

/** A request or a response; a response has the number of its request. */
export interface Numbered<Message> {
  readonly number: number;
  readonly message: Message;
}
