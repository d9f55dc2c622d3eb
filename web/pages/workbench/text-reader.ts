import { inspect, suggestOptions, toParseOptions, type Suggestion } from './inspect.js';
import type { InspectionInput, Inspection, SchemaProblem, WorkbenchOptions, ValueView } from './inspection.js';
import { readSchemaText } from './locate-path.js';
import { createJsonStream, type AlignableSchema, type ParseResult } from '../../../src/json/index.js';
import { formatPath, toValueRows } from './inspection.js';

/** For longer input the value is formatted on one line: indented, it could be many times as long. */
const MAX_INDENTED_LENGTH = 1_000_000;

interface LastReading {
  readonly number: number;
  readonly input: InspectionInput;
  readonly schema: AlignableSchema | undefined;
  readonly value: unknown;
  session: StreamSession;
}

/** Creates the worker's request handler; tests use it without a worker. */
export function createTextReader(now: () => number) {
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
    handle(number: number, request: WorkerRequest): WorkerResponse {
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
  | { readonly kind: 'format'; readonly reading: number }
  | { readonly kind: 'stream'; readonly reading: number }
  | { readonly kind: 'push'; readonly reading: number; readonly chunkLength: number; readonly chunkCount: number };

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
export type Numbered<Message> = Readonly<{ number: number; message: Message }>;

const TAIL_LENGTH = 600;
const MAX_CHANGED = 8;
const STREAMED_VALUE_BOUNDS = { rows: 200, characters: 500 };

/** Input parsed while it arrives in chunks, as from a model that is still writing. */
type StreamSession = ReturnType<typeof startStream>;

export function startStream(text: string, schema: AlignableSchema | undefined, chosen: WorkbenchOptions) {
  const stream = createJsonStream(schema, toParseOptions(chosen, schema));
  let received = 0;
  let result: ParseResult<unknown> | null = null;
  return {
    push(chunkLength: number, chunkCount: number): StreamView {
      let snapshot = stream.push('');
      const changed = new Set<string>();
      for (let chunk = 0; chunk < chunkCount && received < text.length; chunk += 1) {
        const to = received + Math.max(1, chunkLength);
        snapshot = stream.push(text.slice(received, to));
        for (const path of snapshot.changed.slice(-MAX_CHANGED)) changed.add(formatPath(path));
        received = Math.min(text.length, to);
      }
      if (received === text.length) result ??= stream.end();
      // An early candidate is not necessarily selected in the end.
      const value = result?.ok === true ? result.value : snapshot.value;
      return {
        received,
        length: text.length,
        tail: text.slice(Math.max(0, received - TAIL_LENGTH), received),
        value: value === undefined ? null : toValueRows(value, [], STREAMED_VALUE_BOUNDS),
        changed: [...changed].slice(-MAX_CHANGED),
        complete: snapshot.complete,
        ended: result === null ? null : describeEnd(result),
      };
    },
  };
}

function describeEnd(result: ParseResult<unknown>): NonNullable<StreamView['ended']> {
  switch (result.status) {
    case 'success':
      return { status: 'success', message: result.repairLevel };
    case 'failed':
      return { status: 'failed', message: `${result.error.code}: ${result.error.message}` };
    case 'comment':
      return { status: 'comment', message: 'NO_TAG' };
  }
}

/** The minimum time between redraws, no matter how fast the input arrives. */
const MIN_INTERVAL_MS = 33;

/** Chooses the interval, and the number of chunks per interval, for a speed in characters per second. */
export function choosePace(
  charactersPerSecond: number,
  chunkLength: number,
): Readonly<{ intervalMs: number; chunkCount: number }> {
  const intervalMs = (chunkLength / charactersPerSecond) * 1000;
  if (intervalMs >= MIN_INTERVAL_MS) return { intervalMs, chunkCount: 1 };
  return { intervalMs: MIN_INTERVAL_MS, chunkCount: Math.max(1, Math.round(MIN_INTERVAL_MS / intervalMs)) };
}

export interface StreamView {
  readonly received: number;
  readonly length: number;
  readonly tail: string;
  readonly value: ValueView | null;
  readonly changed: readonly string[];
  readonly complete: boolean;
  /** Null until all input has arrived. */
  readonly ended: Readonly<{ status: 'success' | 'failed' | 'comment'; message: string }> | null;
}
