import { createJsonStream } from '../../../src/json/index.js';
import type { AlignableSchema, ParseResult } from '../../../src/json/index.js';
import { LEVEL_LABELS } from '../../ui/repair-labels.js';
import { toParseOptions } from './inspect.js';
import type { WorkbenchOptions, ValueView } from './inspection.js';
import { formatPath, toValueRows } from './value-rows.js';

const TAIL_LENGTH = 600;
const MAX_CHANGED = 8;
const STREAMED_VALUE_BOUNDS = { rows: 200, characters: 500 };

/** Input parsed while it arrives in chunks, as from a model that is still writing. */
export interface StreamSession {
  /** Passes the next chunks to the parser; `chunkLength` is in characters. */
  push(chunkLength: number, chunkCount: number): StreamView;
}

/** Starts parsing the input with `createJsonStream`. */
export function startStream(
  text: string,
  schema: AlignableSchema | undefined,
  chosen: WorkbenchOptions,
): StreamSession {
  const stream = createJsonStream(schema, toParseOptions(chosen, schema));
  let received = 0;
  let result: ParseResult<unknown> | null = null;
  return {
    push(chunkLength, chunkCount) {
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
        value: value === undefined ? null : toValueRows(value, new Map(), STREAMED_VALUE_BOUNDS),
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
      return { status: 'success', message: LEVEL_LABELS[result.repairLevel] };
    case 'failed':
      return { status: 'failed', message: `${result.error.code}: ${result.error.message}` };
    case 'comment':
      return { status: 'comment', message: 'No <json> tag found: the whole output becomes a comment.' };
  }
}

/** The minimum time between redraws, no matter how fast the input arrives. */
const MIN_INTERVAL_MS = 33;

/**
 * Chooses the interval, and the number of chunks per interval, for a speed in characters per second.
 *
 * @example
 * choosePace(100, 4) // { intervalMs: 40, chunkCount: 1 }
 */
export function choosePace(
  charactersPerSecond: number,
  chunkLength: number,
): { readonly intervalMs: number; readonly chunkCount: number } {
  const intervalMs = (chunkLength / charactersPerSecond) * 1000;
  if (intervalMs >= MIN_INTERVAL_MS) return { intervalMs, chunkCount: 1 };
  return { intervalMs: MIN_INTERVAL_MS, chunkCount: Math.max(1, Math.round(MIN_INTERVAL_MS / intervalMs)) };
}

/** The state of a stream. */
export interface StreamView {
  /** The number of characters that have arrived, of `length`. */
  readonly received: number;
  readonly length: number;
  /** The end of the input that has arrived. */
  readonly tail: string;
  readonly value: ValueView | null;
  /** The paths that the last chunks changed. */
  readonly changed: readonly string[];
  readonly complete: boolean;
  /** Null until all input has arrived. */
  readonly ended: { readonly status: 'success' | 'failed' | 'comment'; readonly message: string } | null;
}
