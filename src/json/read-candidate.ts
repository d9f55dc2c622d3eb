import { isDeeperThan } from './limits.js';
import { readValue, type Reading } from './reader/read-value.js';
import { repairSets, withTruncation, type ReaderPolicy } from './reader/reader-policy.js';
import type { RepairKind } from './repair.js';
import type { SearchSettings } from './search-settings.js';

/** Repairs after which a text without brackets still counts as a value; with any other it is prose. */
const SCALAR_REPAIRS: ReadonlySet<RepairKind> = new Set<RepairKind>(['truncated', 'literal', 'number', 'whitespace', 'comment']);
const DOUBTFUL_REPAIRS: ReadonlySet<RepairKind> = new Set<RepairKind>(['unescaped_quote', 'missing_quote']);
/** A character a JSON text may begin with, behind white space. */
const JSON_START = /^[ \t\r\n]*["[{\d\-tfn]/;

/** Reads a span that should be one value and nothing else. */
export function readBlock(text: string, start: number, end: number, settings: SearchSettings, truncation: boolean): Reading {
  const block = start === 0 && end === text.length ? text : text.slice(start, end);
  const strict = readStrict(block, start, settings);
  if (strict !== undefined) return strict;
  const reading = readValue(block, start, policyOf(settings, settings.repairs, true, truncation));
  return reading.ok && isProse(reading) ? notAValue(start) : reading;
}

/** Reads a value that begins at `start`; where it ends is for the reader to find out. */
export function readOpen(text: string, start: number, limit: number, settings: SearchSettings, truncation: boolean): Reading {
  const reading = readValue(text.slice(start, limit), start, policyOf(settings, settings.repairsInProse, false, truncation));
  return reading.ok && endsInDoubt(text, reading) ? inDoubt(reading) : reading;
}

/** Where quotes had to be guessed and structure goes on behind the value, it probably ended too early. */
function endsInDoubt(text: string, reading: Reading & { readonly ok: true }): boolean {
  if (!reading.repairs.some((repair) => DOUBTFUL_REPAIRS.has(repair.kind))) return false;
  return /^\s*["',:}\]]/.test(text.slice(reading.end, reading.end + 64));
}

function inDoubt(reading: Reading & { readonly ok: true }): Reading {
  const failure = { code: 'SYNTAX', message: 'quotes are missing or unescaped, and where the value ends is in doubt', offset: reading.end } as const;
  return { ok: false, failure, plausible: true, end: reading.end };
}

/** The fast way: what `JSON.parse` accepts is taken as it is. Undefined if it is not valid JSON. */
function readStrict(block: string, offset: number, settings: SearchSettings): Reading | undefined {
  if (!JSON_START.test(block)) return undefined;
  if (settings.needsOwnReader) {
    const reading = readValue(block, offset, policyOf(settings, repairSets.none, true, false));
    return reading.ok ? reading : undefined;
  }
  let value: unknown;
  try {
    value = JSON.parse(block);
  } catch {
    return undefined;
  }
  const end = offset + block.length;
  const { depth } = settings.limits;
  // Each level takes at least two characters.
  if (block.length > 2 * depth && isDeeperThan(value, depth)) {
    const failure = { code: 'LIMIT_EXCEEDED', message: `the value is nested deeper than ${depth} levels`, offset } as const;
    return { ok: false, failure, plausible: true, end };
  }
  return { ok: true, value, repairs: [], duplicates: [], end };
}

function policyOf(
  settings: SearchSettings,
  repairs: ReadonlySet<RepairKind>,
  rootMustEnd: boolean,
  truncation: boolean,
): ReaderPolicy {
  return {
    repairs: truncation ? withTruncation(repairs) : repairs,
    missingValue: 'drop',
    bareText: 'cautious',
    rootMustEnd,
    numbers: settings.numbers,
    depth: settings.limits.depth,
  };
}

/** A quoted sentence is no JSON only because a reader that mends quotes can make a string of it. */
function isProse(reading: Reading & { readonly ok: true }): boolean {
  if (typeof reading.value === 'object' && reading.value !== null) return false;
  return reading.repairs.some((repair) => !SCALAR_REPAIRS.has(repair.kind));
}

function notAValue(offset: number): Reading {
  return { ok: false, failure: { code: 'SYNTAX', message: 'this is text, not JSON', offset }, plausible: false, end: offset };
}
