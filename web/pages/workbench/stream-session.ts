import { createJsonStream } from '../../../src/json/index.js';
import type { AlignableSchema, ParseResult } from '../../../src/json/index.js';
import { toParseOptions } from './inspect.js';
import type { WorkbenchOptions, ValueView } from './inspection.js';
import { formatPath, toValueRows } from './value-rows.js';

const TAIL = 600;
const MAX_CHANGED = 8;
const BOUNDS = { rows: 200, characters: 500 };

/** A text that arrives in pieces, as from a model that is still writing. */
export interface StreamSession {
  /** Reads the next this many chunks of this many characters. */
  push(characters: number, pieces: number): StreamView;
}

/** Begins to read a text with `createJsonStream`. */
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
      // A candidate that came first may not be the one that is taken in the end.
      const value = result?.ok === true ? result.value : snapshot.value;
      return {
        taken,
        length: text.length,
        tail: text.slice(Math.max(0, taken - TAIL), taken),
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
      return { status: 'success', words: result.repairLevel };
    case 'failed':
      return { status: 'failed', words: `${result.error.code}: ${result.error.message}` };
    case 'comment':
      return { status: 'comment', words: 'no <json> tag: the text is kept as a comment' };
  }
}

/** A page is not drawn more often than this, however fast the text comes. */
const FASTEST_MS = 33;

/**
 * The interval and the number of chunks per interval for a speed in characters per second.
 *
 * @example
 * choosePace(100, 4) // { everyMs: 40, pieces: 1 }
 */
export function choosePace(
  charactersPerSecond: number,
  piece: number,
): { readonly everyMs: number; readonly pieces: number } {
  const everyMs = (piece / charactersPerSecond) * 1000;
  if (everyMs >= FASTEST_MS) return { everyMs, pieces: 1 };
  return { everyMs: FASTEST_MS, pieces: Math.max(1, Math.round(FASTEST_MS / everyMs)) };
}

/** How far a text that is read in pieces has come. */
export interface StreamView {
  /** Characters read, of `length`. */
  readonly taken: number;
  readonly length: number;
  /** The end of what was read. */
  readonly tail: string;
  readonly value: ValueView | null;
  /** Where the last pieces changed something. */
  readonly changed: readonly string[];
  readonly complete: boolean;
  /** Once everything was read. */
  readonly ended: { readonly status: 'success' | 'failed' | 'comment'; readonly words: string } | null;
}
