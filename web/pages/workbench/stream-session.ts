import { createJsonStream } from '../../../src/json/index.js';
import type { AlignableSchema, ParseResult } from '../../../src/json/index.js';
import { LEVEL_WORDS } from '../../ui/repair-words.js';
import { toParseOptions } from './inspect.js';
import type { WorkbenchOptions, ValueView } from './inspection.js';
import { formatPath, toValueRows } from './value-rows.js';

const TAIL_LENGTH = 600;
const MAX_CHANGED = 8;
const BOUNDS = { rows: 200, characters: 500 };

/** A text that is parsed while it arrives in chunks, as from a model that is still writing. */
export interface StreamSession {
  /** Reads the next `pieces` chunks of `characters` characters each. */
  push(characters: number, pieces: number): StreamView;
}

/** Starts to parse a text with `createJsonStream`. */
export function startStream(
  text: string,
  schema: AlignableSchema | undefined,
  chosen: WorkbenchOptions,
): StreamSession {
  const stream = createJsonStream(schema, toParseOptions(chosen, schema));
  let taken = 0;
  let result: ParseResult<unknown> | null = null;
  return {
    push(characters, pieces) {
      let snapshot = stream.push('');
      const changed = new Set<string>();
      for (let piece = 0; piece < pieces && taken < text.length; piece += 1) {
        const to = taken + Math.max(1, characters);
        snapshot = stream.push(text.slice(taken, to));
        for (const path of snapshot.changed.slice(-MAX_CHANGED)) changed.add(formatPath(path));
        taken = Math.min(text.length, to);
      }
      if (taken === text.length) result ??= stream.end();
      // An early candidate may not be the one that is selected in the end.
      const value = result?.ok === true ? result.value : snapshot.value;
      return {
        taken,
        length: text.length,
        tail: text.slice(Math.max(0, taken - TAIL_LENGTH), taken),
        value: value === undefined ? null : toValueRows(value, new Map(), BOUNDS),
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
      return { status: 'success', message: LEVEL_WORDS[result.repairLevel] };
    case 'failed':
      return { status: 'failed', message: `${result.error.code}: ${result.error.message}` };
    case 'comment':
      return { status: 'comment', message: 'No <json> tag found: the entire text becomes a comment.' };
  }
}

/** The minimum time between two redraws, no matter how fast the text arrives. */
const MIN_INTERVAL_MS = 33;

/**
 * Chooses the interval, and the number of chunks per interval, for a speed in characters per second.
 *
 * @example
 * choosePace(100, 4) // { everyMs: 40, pieces: 1 }
 */
export function choosePace(
  charactersPerSecond: number,
  piece: number,
): { readonly everyMs: number; readonly pieces: number } {
  const everyMs = (piece / charactersPerSecond) * 1000;
  if (everyMs >= MIN_INTERVAL_MS) return { everyMs, pieces: 1 };
  return { everyMs: MIN_INTERVAL_MS, pieces: Math.max(1, Math.round(MIN_INTERVAL_MS / everyMs)) };
}

/** The state of a text that is read in chunks. */
export interface StreamView {
  /** Characters read, of `length`. */
  readonly taken: number;
  readonly length: number;
  /** The end of the text read so far. */
  readonly tail: string;
  readonly value: ValueView | null;
  /** The paths that the last chunks changed. */
  readonly changed: readonly string[];
  readonly complete: boolean;
  /** Null until everything was read. */
  readonly ended: { readonly status: 'success' | 'failed' | 'comment'; readonly message: string } | null;
}
