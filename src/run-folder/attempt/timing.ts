import { STREAMS } from '../../events/index.js';
import type { StreamName } from '../../events/index.js';
import { parseJson } from '../../files/index.js';

/** A line of `timing.N.jsonl`: which bytes of which stream came when, in milliseconds since the attempt began. */
export interface TimingEntry {
  readonly ms: number;
  readonly stream: StreamName;
  readonly offset: number;
  readonly bytes: number;
}

/** A line is four short fields. */
export const TIMING_LINE_BYTES = 4096;

/** Reads a line; undefined if it says nothing that can be used. */
export function parseTimingLine(line: string): TimingEntry | undefined {
  const value = parseJson(line);
  if (typeof value !== 'object' || value === null) return undefined;
  if (!('ms' in value && 'stream' in value && 'offset' in value && 'bytes' in value)) return undefined;
  const { ms, offset, bytes } = value;
  const stream = STREAMS.find((name) => name === value.stream);
  if (stream === undefined || !isTime(ms) || !isCount(offset) || !isCount(bytes)) return undefined;
  return { ms, stream, offset, bytes };
}

/** A thousand years in milliseconds: beyond it the sum with the start would be no date any more. */
const MAX_MS = 1000 * 365 * 24 * 60 * 60 * 1000;

function isTime(field: unknown): field is number {
  return typeof field === 'number' && field >= 0 && field <= MAX_MS;
}

function isCount(field: unknown): field is number {
  return Number.isSafeInteger(field) && typeof field === 'number' && field >= 0;
}
