import { inspect, suggestOptions, toParseOptions } from './inspect.js';
import type { InspectionInput, WorkbenchOptions, ValueView } from './inspection.js';
import { readSchemaText } from './locate-path.js';
import { createJsonStream, type AlignableSchema, type ParseResult } from '../../../src/json/index.js';
import { formatPath, toValueRows } from './inspection.js';

/** For longer input the value is formatted on one line: indented, it could be many times as long. */
const MAX_INDENTED_LENGTH = 1_000_000;

/** The functions of the worker. The page refers to a reading by its number, until other input was parsed. */
export type TextReader = ReturnType<typeof createTextReader>;

/** Creates the worker's functions; tests use them without a worker. */
export function createTextReader(now: () => number) {
  let last: Readonly<{ number: number; length: number; value: unknown; start: () => StreamSession }> | undefined;
  let session: StreamSession | undefined;
  return {
    read(number: number, { text, schemaText, options }: InspectionInput) {
      const parsedSchema = readSchemaText(schemaText);
      if (!parsedSchema.ok) return { schemaProblem: parsedSchema.problem };
      // Frees the last value's memory before the next one is created.
      last = undefined;
      const { schema } = parsedSchema;
      const startedAt = now();
      const { inspection, value, result } = inspect(text, schema, options);
      const tookMs = now() - startedAt;
      last = { number, length: text.length, value, start: () => startStream(text, schema, options) };
      session = last.start();
      return { inspection, tookMs, suggestions: suggestOptions(text, schema, options, result) };
    },
    format(reading: number): string | null {
      if (last?.number !== reading) return null;
      return JSON.stringify(last.value, null, last.length > MAX_INDENTED_LENGTH ? 0 : 2) ?? '';
    },
    restart(reading: number): StreamView | null {
      if (last?.number !== reading) return null;
      session = last.start();
      return session.push(1, 0);
    },
    push(reading: number, chunkLength: number, chunkCount: number): StreamView | null {
      return last?.number === reading ? (session?.push(chunkLength, chunkCount) ?? null) : null;
    },
  };
}

/** A call of one of the worker's functions. Its response has the same number. */
export type WorkerCall = Readonly<{ number: number; name: keyof TextReader; input: readonly unknown[] }>;

export type WorkerResponse = Readonly<{ number: number; output?: unknown; failure?: string }>;

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
