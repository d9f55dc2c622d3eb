import { BracketWalker } from './find/bracket-walker.js';
import type { Span } from './find/spans.js';
import { examineNumbers, isContainer } from './limits.js';
import { resolveLimits, type Limits, type ParseOptions, type Profile } from './options.js';
import {
  createReaderPolicy,
  NO_REPAIRS,
  CONTROL_CHARACTERS,
  REPAIRS_IN_PROSE,
  ALL_REPAIRS,
  describeDepthLimit,
} from './reader/reader-policy.js';
import { createReading, createRefusal, readValue, type ReadResult } from './reader/reader.js';
import { createRepair, type RepairSet } from './repair.js';

/** One call's options with defaults filled in, and the settings derived from the profile. */
export interface SearchSettings {
  readonly profile: Profile;
  readonly repairs: RepairSet;
  /** In running text without a schema, unquoted words are not values: nothing would distinguish prose from an answer. */
  readonly repairsInProse: RepairSet;
  readonly hasSchema: boolean;
  readonly limits: Required<Limits>;
  readonly numbers: NonNullable<ParseOptions['numbers']>;
  /** An option needs more than `JSON.parse` reports, so our own reader is used. */
  readonly needsOwnReader: boolean;
}

export function resolveSettings(options: ParseOptions, hasSchema: boolean): SearchSettings {
  const profile = options.profile ?? 'default';
  const repairs = REPAIRS[profile] ?? ALL_REPAIRS;
  const numbers = options.numbers ?? 'double';
  return {
    profile,
    repairs,
    repairsInProse: hasSchema || repairs !== ALL_REPAIRS ? repairs : REPAIRS_IN_PROSE,
    hasSchema,
    limits: resolveLimits(options.limits),
    numbers,
    needsOwnReader: numbers !== 'double' || options.detectDuplicates === true,
  };
}

/** The repairs allowed by profiles that do not repair all syntax errors. */
const REPAIRS: Readonly<Partial<Record<Profile, RepairSet>>> = {
  generic: NO_REPAIRS,
  unified: CONTROL_CHARACTERS,
};

type ReadSettings = Pick<SearchSettings, 'needsOwnReader' | 'numbers' | 'limits'>;

/** Reads a span as its finder and the profile require. */
export function readSpan(text: string, span: Span, settings: SearchSettings): ReadResult {
  const { start, end, finder } = span;
  if (finder === 'tag') return readTag(text, span, settings);
  if (settings.repairs !== ALL_REPAIRS) {
    const reading = readBlock(text, start, end, settings);
    // Text that starts with a bracket was intended as JSON, no matter how early a reader without repairs fails.
    return reading.ok ? reading : { ...reading, plausible: /^\s*[[{]/.test(text.slice(start, end)) };
  }
  if (finder === 'fence') return readFence(text, start, end, settings);
  if (finder === 'prose') return readOpen(text, start, end, settings);
  if (finder === 'ndjson') return readBlock(text, start, end, settings, settings.repairsInProse);
  // The whole input is known not to be valid JSON.
  return span.untouched ? readBroken(text, 0, settings, settings.repairs) : readBlock(text, start, end, settings);
}

/** A value in running text, and where to look for the next: -1 if the rest of the text belongs to this value. */
export interface ProseReading {
  readonly reading: ReadResult;
  readonly next: number;
  /** Offset up to which the input was scanned. */
  readonly seen: number;
  /** The value's span; undefined if no value was found. */
  readonly span: Span | undefined;
}

/**
 * Reads from a bracket in running text. `earlier`: the result of an earlier attempt to read there. The inside of a
 * value is not searched again, even if the value cannot be read: a part could be mistaken for the whole value.
 */
export function readProse(
  text: string,
  span: Span,
  settings: SearchSettings,
  earlier: ReadResult | undefined,
): ProseReading {
  const { start, end: limit } = span;
  const reading = earlier ?? readOpen(text, start, limit, settings);
  if (reading.ok) {
    // Without a schema nothing else distinguishes an answer from prose.
    const isProse = !settings.hasSchema && isPartOfSentence(text, start, reading.value);
    const { end } = reading;
    return { reading, next: end, seen: end, span: isProse ? undefined : { ...span, end } };
  }
  // A bracket followed by a quote starts a value, even if the text ends before the first colon.
  if (!reading.plausible && !/^.\s{0,64}["']/.test(text.slice(start, start + 99)))
    return { reading, next: start + 1, seen: reading.end, span: undefined };
  const isClosed = reading.failure.code === 'SYNTAX' || reading.isElided;
  const end = isClosed ? new BracketWalker(text, start).findEnd(limit) : -1;
  // If more JSON follows the value, everything up to a blank line belongs to it too.
  const next = /^[\s}\]]*,\s*["'{[]/.test(text.slice(end, end + 99)) ? text.indexOf('\n\n', end) : end;
  return { reading, next, seen: Math.max(reading.end, end), span: { ...span, end: end === -1 ? limit : end } };
}

/**
 * Whether a value is part of a sentence: `{}`, `a[0]`, `[1, 2]`. After a colon, or at the start of a line, such values
 * are answers.
 */
function isPartOfSentence(text: string, start: number, value: unknown): boolean {
  const before = text.slice(Math.max(0, start - 40), start);
  const isArray = Array.isArray(value);
  if (isArray && /[\w)\]]$/.test(before)) return true;
  const items: unknown[] = isContainer(value) ? Object.values(value) : [];
  const hasContent = items.length > 0 && !(isArray && items.every((item) => typeof item === 'number'));
  return !hasContent && !/([:：=]|\w>|^|\n)[ \t]*$/.test(before);
}

/** Reads a span that should be one value and nothing else. */
function readBlock(
  text: string,
  start: number,
  end: number,
  settings: SearchSettings,
  repairs = settings.repairs,
): ReadResult {
  const block = text.slice(start, end);
  return readStrict(block, start, settings) ?? readBroken(block, start, settings, repairs);
}

/** Reads a span that is one value but not valid JSON. */
function readBroken(block: string, offset: number, settings: SearchSettings, repairs: RepairSet): ReadResult {
  return readValue(block, offset, createReaderPolicy(settings, repairs, true));
}

/** Reads a value that starts at `start`; the reader determines where it ends. */
function readOpen(text: string, start: number, limit: number, settings: SearchSettings): ReadResult {
  const policy = createReaderPolicy(settings, settings.repairsInProse, false);
  const reading = readValue(text.slice(start, limit), start, policy);
  // If JSON structure follows the value, the value ended too early; if its end was guessed, weaker evidence is enough.
  const isGuessed = reading.ok && reading.repairs.some(({ kind }) => /quote$|missing_bracket/.test(kind));
  const continuation = isGuessed ? /^[\s}\]]*["',:]/ : /^[\s}\]]*,\s*"[^"\n]*"\s*[:\]"]/;
  if (!reading.ok || !continuation.test(text.slice(reading.end, reading.end + 99))) return reading;
  return createRefusal('SYNTAX', 'Invalid JSON: unclear end', reading.end, reading.end);
}

/** Reads after an opening fence: valid JSON up to the next fence, otherwise as far as the reader gets. */
function readFence(text: string, start: number, end: number, settings: SearchSettings): ReadResult {
  const [block = ''] = text.slice(start, end).split('```', 1);
  const strict = readStrict(block.trimEnd(), start, settings);
  if (strict?.ok) return strict;
  const reading = readOpen(text, start, end, settings);
  // A truncated value ends at its fence: text after the fence is not part of an unterminated string.
  if (reading.ok || !/\n[ \t]*$/.test(block)) return reading;
  const content = block.trimEnd();
  const cut = readOpen(text, start, start + content.length, settings);
  const inside = text.startsWith('```', start + block.length) ? closeRoot(cut, content) : cut;
  // Keep the end of the longer reading, so the search continues after it.
  return 'value' in inside ? { ...inside, end: reading.end } : reading;
}

/** Adds the last bracket of a block that ends with a closed part: the block goes no further, so it is not cut off. */
function closeRoot(reading: ReadResult, block: string): ReadResult {
  const { end } = reading;
  if (reading.ok || !('value' in reading) || reading.isElided || !/[}\]]$/.test(block)) return reading;
  const { value, repairs, duplicates } = reading;
  if (new BracketWalker(block).depthAt(block.length) > 1) return reading;
  return { ok: true, value, duplicates, end, repairs: [...repairs.slice(0, -1), createRepair('missing_bracket', end)] };
}

/** Reads a `<json>` block. If that fails, retries up to the last closing tag, or without the prose before the value. */
function readTag(text: string, { start, end, lastClose = end }: Span, settings: SearchSettings): ReadResult {
  const reading = readBlock(text, start, end, settings);
  if (reading.ok) return reading;
  const bracket = start + text.slice(start, end).search(/[[{]|$/);
  const extended = readBlock(text, start, lastClose, settings);
  if (extended.ok) return extended;
  const inner = readOpen(text, bracket, end, settings);
  const isBetter = 'value' in inner && (inner.ok || !('value' in reading));
  return isBetter ? { ...inner, repairs: [createRepair('extracted', bracket), ...inner.repairs] } : reading;
}

/** The fast path: input that `JSON.parse` accepts is used unchanged. Returns undefined for anything else. */
export function readStrict(block: string, offset: number, settings: ReadSettings): ReadResult | undefined {
  if (settings.needsOwnReader) {
    const reading = readValue(block, offset, createReaderPolicy(settings, NO_REPAIRS, true));
    return reading.ok ? reading : undefined;
  }
  // Much cheaper than letting `JSON.parse` throw on prose.
  if (!/^\s*["[{\d\-tfn]/.test(block)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(block);
  } catch {
    return undefined;
  }
  const end = offset + block.length;
  const { depth } = settings.limits;
  const isExact = examineNumbers(value, depth, block);
  return isExact === undefined
    ? createRefusal('LIMIT_EXCEEDED', describeDepthLimit(depth), offset, end)
    : createReading(value, end, isExact);
}
