import { isDeeperThan } from './limits.js';
import { readValue, refused, untouched, type Reading } from './reader/read-value.js';
import { cautiousPolicy, repairSets, tooDeep } from './reader/reader-policy.js';
import type { RepairSet } from './repair.js';
import type { SearchSettings } from './search-settings.js';

type ReadSettings = Pick<SearchSettings, 'needsOwnReader' | 'numbers' | 'limits'>;

/** Reads a span that should be one value and nothing else. */
export function readBlock(
  text: string,
  start: number,
  end: number,
  settings: SearchSettings,
  repairs = settings.repairs,
): Reading {
  const block = text.slice(start, end);
  return readStrict(block, start, settings) ?? readMending(block, start, settings, repairs);
}

/** Reads one value and nothing else that is no valid JSON. */
export function readMending(block: string, offset: number, settings: SearchSettings, repairs: RepairSet): Reading {
  return readValue(block, offset, cautiousPolicy(settings, repairs, true));
}

/** Reads a value that begins at `start`; where it ends is for the reader to find out. */
export function readOpen(text: string, start: number, limit: number, settings: SearchSettings): Reading {
  const policy = cautiousPolicy(settings, settings.repairsInProse, false);
  const reading = readValue(text.slice(start, limit), start, policy);
  // Where structure goes on behind the value, it ended too early; where its end was guessed, it takes less to say so.
  const guessed = reading.ok && reading.repairs.some(({ kind }) => /quote$|missing_bracket/.test(kind));
  const goesOn = guessed ? /^[\s}\]]*["',:]/ : /^[\s}\]]*,\s*"[^"\n]*"\s*[:\]]/;
  if (!reading.ok || !goesOn.test(text.slice(reading.end, reading.end + 99))) return reading;
  return refused('SYNTAX', 'the end is in doubt', reading.end, reading.end);
}

/** The fast way: what `JSON.parse` accepts is taken as it is. Undefined if it is not valid JSON. */
export function readStrict(block: string, offset: number, settings: ReadSettings): Reading | undefined {
  if (settings.needsOwnReader) {
    const reading = readValue(block, offset, cautiousPolicy(settings, repairSets.none, true));
    return reading.ok ? reading : undefined;
  }
  // Much cheaper than the error that prose would be answered with.
  if (!/^\s*["[{\d\-tfn]/.test(block)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(block);
  } catch {
    return undefined;
  }
  const end = offset + block.length;
  const { depth } = settings.limits;
  // Each level takes at least two characters.
  const isTooDeep = block.length > 2 * depth && isDeeperThan(value, depth);
  return isTooDeep ? refused('LIMIT_EXCEEDED', tooDeep(depth), offset, end) : untouched(value, end);
}
