import { MAX_ENVELOPE_DEPTH, TRY_COST } from './bounds.js';
import { joinDeltas, listEnvelopeContents } from './find/envelope.js';
import {
  createSpan,
  findFencedSpans,
  findLastTag,
  findMarkedSpans,
  findProseSpans,
  findTags,
  type Span,
  blankThinking,
  findGenericSpans,
  findObjects,
  findUnifiedSpans,
} from './find/spans.js';
import { surveyText, type Survey } from './find/survey.js';
import type { Profile } from './options.js';
import { readProse, readSpan, readStrict, type SearchSettings } from './read-span.js';
import { ALL_REPAIRS } from './reader/reader-policy.js';
import { createReading, type ReadResult } from './reader/reader.js';

/**
 * A span and its reading. `read` reads the span on the first call and caches the reading. It is not a getter because V8
 * keeps a plain object's getter, and therefore the value, in the hidden class until the next full garbage collection.
 */
export interface FoundCandidate extends Span {
  /** Number of envelopes around it. */
  readonly level: number;
  readonly read: () => ReadResult;
}

function createCandidate(
  { finder, start, end, untouched: isUntouched }: Span,
  read: () => ReadResult,
  level = 0,
): FoundCandidate {
  let reading: ReadResult | undefined;
  // Copied field by field: spreading the span would cost as much as all other work on valid JSON.
  return { finder, start, end, untouched: isUntouched, level, read: () => (reading ??= read()) };
}

/** A value that was read but did not pass. It might be an envelope around the answer. */
export interface RejectedValue {
  readonly value: unknown;
  readonly candidate: FoundCandidate;
}

/**
 * Yields the candidates in the order the profile tries them. The caller adds values that were read but did not pass to
 * `rejected`; they are opened as envelopes later.
 */
export function findCandidates(
  text: string,
  settings: SearchSettings,
  rejected: RejectedValue[],
  whole?: FoundCandidate | null,
): Iterable<FoundCandidate> {
  switch (settings.profile) {
    case 'default':
      return findAnywhere(text, settings, rejected, whole);
    case 'generic':
      return findGeneric(text, settings, rejected);
    case 'tagged':
      return readSpans(text, findLastTag(text, surveyText(text)), settings);
    case 'unified':
      return findUnified(text, settings);
  }
}

function* findGeneric(text: string, settings: SearchSettings, rejected: RejectedValue[]): Generator<FoundCandidate> {
  yield* readSpans(text, findGenericSpans(text), settings);
  // The first pair of braces that is JSON; pairs before it are prose or code.
  for (const pair of readSpans(text, findObjects(text, 0, text.length), settings)) {
    yield pair;
    if (pair.read().ok) break;
  }
  yield* findInEnvelopes(rejected, (inner) => findGeneric(inner, settings, []));
}

function* findUnified(text: string, settings: SearchSettings): Generator<FoundCandidate> {
  yield* readSpans(text, [createSpan('whole', 0, text.length, true)], settings);
  const visibleText = blankThinking(text);
  yield* readSpans(visibleText, findUnifiedSpans(visibleText), settings);
}

/**
 * Values that pass next to the one that a profile of the sources chose, to warn about them: `<json>` blocks in profile
 * `tagged`, values anywhere in the others.
 */
export function findRivals(text: string, settings: SearchSettings): Iterable<FoundCandidate> {
  const tolerant: SearchSettings = { ...settings, profile: 'default', repairs: ALL_REPAIRS };
  return settings.profile === 'tagged'
    ? readSpans(text, findTags(text, surveyText(text)), settings)
    : findAnywhere(text, tolerant);
}

/** The input without the thinking and the fence around it: if the schema expects a word or a number, this might be the whole answer. */
export function findWords(text: string, profile: Profile): readonly FoundCandidate[] {
  return (profile === 'default' ? surveyText(text).regions : []).map(({ start, end }) =>
    createCandidate(createSpan('whole', start, end), () =>
      createReading(removeFence(text.slice(start, end).trim()), end),
    ),
  );
}

/** The content of text that is one fence. */
function removeFence(text: string): string {
  const isFence = text.startsWith('```') && text.indexOf('```', 3) === text.length - 3;
  return isFence ? text.slice(text.indexOf('\n') + 1, -3).trimEnd() : text;
}

function* readSpans(text: string, spans: Iterable<Span>, settings: SearchSettings): Generator<FoundCandidate> {
  for (const span of spans) yield createCandidate(span, () => readSpan(text, span, settings));
}

/** The whole input as a candidate if it is valid JSON. */
export function readWhole(text: string, settings: SearchSettings): FoundCandidate | null {
  const reading = readStrict(text, 0, settings);
  return reading ? createCandidate(createSpan('whole', 0, text.length, true), () => reading) : null;
}

/** Profile `default`: the whole input, then everything found inside it, and the contents of the values rejected so far. */
function* findAnywhere(
  text: string,
  settings: SearchSettings,
  rejected: RejectedValue[] = [],
  whole = readWhole(text, settings),
): Generator<FoundCandidate> {
  const inEnvelopes = (): Iterable<FoundCandidate> =>
    findInEnvelopes(rejected, (inner) => findAnywhere(inner, settings));
  const joined = whole ? undefined : joinDeltas(text);
  // Anything that looks like thinking, tags or fences is inside its strings.
  if (whole) yield whole;
  else if (!joined) {
    const survey = surveyText(text);
    yield* readSpans(text, findMarkedSpans(text, survey, settings.limits.candidates), settings);
    yield* inEnvelopes();
    yield* findUnmarked(text, survey, settings);
  } else {
    const span = createSpan('envelope', 0, text.length);
    for (const { read } of findAnywhere(joined, settings))
      yield createCandidate(span, () => moveReading(read(), 0, text.length), 1);
  }
  yield* inEnvelopes();
}

/**
 * Searches after fences and in running text, objects before arrays, because `[1]` in prose is seldom the answer. Such a
 * value must be read to find its end. Values can overlap, and reading each to its end is not linear, hence the budgets
 * (in characters).
 */
function* findUnmarked(text: string, { regions }: Survey, settings: SearchSettings): Generator<FoundCandidate> {
  const maxCandidates = settings.limits.candidates;
  const budget = 4 * text.length + 65_536;
  const fencedReadings = new Map<number, ReadResult>();
  let remaining = budget;
  for (const candidate of readSpans(text, findFencedSpans(text, regions), settings)) {
    if (remaining < 0) break;
    const reading = candidate.read();
    fencedReadings.set(candidate.start, reading);
    remaining -= reading.end - candidate.start;
    yield candidate;
  }
  const objects: FoundCandidate[] = [];
  const arrays: FoundCandidate[] = [];
  const spans = findProseSpans(text, regions);
  remaining = budget;
  for (let step = spans.next(-1); !step.done && objects.length < maxCandidates && remaining > 0;) {
    const { start } = step.value;
    const earlier = fencedReadings.get(start);
    const { reading, next, seen, span } = readProse(text, step.value, settings, earlier);
    // Counted separately: any number of `[INFO]` and `[1]` must not hide the one object.
    const found = text[start] === '[' ? arrays : objects;
    if (span && !earlier && found.length < maxCandidates) {
      // If a repair depended on what follows the value, the value must also be readable without it.
      const isFinal = reading.ok ? reading.repairs.length === 0 : 'value' in reading;
      found.push(createCandidate(span, () => (isFinal ? reading : readSpan(text, span, settings))));
    }
    remaining -= seen - start + TRY_COST;
    step = spans.next(next);
  }
  yield* objects;
  yield* arrays;
}

/**
 * The contents of rejected values; each value is removed from the list. Rejected contents are added to it, so nested
 * envelopes are opened too.
 */
function* findInEnvelopes(
  rejected: RejectedValue[],
  findInText: (text: string) => Iterable<FoundCandidate>,
): Generator<FoundCandidate> {
  for (let envelope = rejected.shift(); envelope; envelope = rejected.shift()) {
    const { start, end, level } = envelope.candidate;
    if (level >= MAX_ENVELOPE_DEPTH) continue;
    const createContent = (readInside: () => ReadResult): FoundCandidate =>
      createCandidate(createSpan('envelope', start, end), readInside, level + 1);
    for (const content of listEnvelopeContents(envelope.value)) {
      if (typeof content !== 'string') yield createContent(() => createReading(content, end));
      else for (const inner of findInText(content)) yield createContent(() => moveReading(inner.read(), start, end));
    }
  }
}

/** Offsets inside the content do not apply to the input, so the envelope's offsets are used. */
function moveReading(reading: ReadResult, offset: number, end: number): ReadResult {
  const repairs = 'value' in reading ? reading.repairs.map((repair) => ({ ...repair, offset })) : [];
  return reading.ok
    ? { ...reading, repairs, end }
    : { ...reading, failure: { ...reading.failure, offset }, repairs, end };
}
