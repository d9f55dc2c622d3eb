import { envelopeContents } from './find/envelope.js';
import { createSpan, findFencedSpans, findLastTag, findMarkedSpans, findProseSpans, type Span } from './find/spans.js';
import { blankThinking, findGenericSpans, findUnifiedSpans } from './find/strict-spans.js';
import { surveyText, type Survey } from './find/survey.js';
import type { ParseOptions } from './options.js';
import { readProse, readSpan, readStrict, type SearchSettings } from './read-span.js';
import { untouched, type Reading } from './reader/reader.js';

/** Envelopes inside envelopes, at most. */
const DEEPEST_ENVELOPE = 6;
/** What it takes to look at a bracket, in characters read. */
const COST_OF_TRY = 16;

/**
 * A span and what reading it gave. It is read when `read` is first called: the reading is kept. Not a getter: V8 keeps
 * the getter of a plain object, and with it the value, in the hidden class until the next full garbage collection.
 */
export interface FoundCandidate extends Span {
  /** How many envelopes it was taken out of. */
  readonly level: number;
  readonly read: () => Reading;
}

function foundCandidate(
  { finder, start, end, untouched: isUntouched }: Span,
  read: () => Reading,
  level = 0,
): FoundCandidate {
  let reading: Reading | undefined;
  // Each field by its name: to spread the span would cost as much as all else that is done with a valid text.
  return { finder, start, end, untouched: isUntouched, level, read: () => (reading ??= read()) };
}

/** A value that was read but did not pass, and may be an envelope around the answer. */
export interface RejectedValue {
  readonly value: unknown;
  readonly candidate: FoundCandidate;
}

/**
 * The candidates of a text in the order in which its profile tries them. `rejected` is where the caller puts the
 * values that were read and did not pass; they are taken from there when the turn of the envelopes comes.
 */
export function* findCandidates(
  text: string,
  settings: SearchSettings,
  prefer: ParseOptions['prefer'],
  rejected: RejectedValue[],
): Generator<FoundCandidate> {
  switch (settings.profile) {
    case 'default': {
      const inEnvelopes = (): Iterable<FoundCandidate> =>
        findInEnvelopes(rejected, (inner) => findAnywhere(inner, settings));
      // By where they stand in the text, not by how they were found.
      const direction = prefer === 'first' ? 1 : -1;
      yield* prefer === undefined
        ? findAnywhere(text, settings, inEnvelopes)
        : [...findAnywhere(text, settings)].sort((left, right) => direction * (left.start - right.start));
      yield* inEnvelopes();
      return;
    }
    case 'generic': {
      const findGeneric = (inner: string): Iterable<FoundCandidate> =>
        readSpans(inner, findGenericSpans(inner), settings);
      yield* findGeneric(text);
      yield* findInEnvelopes(rejected, findGeneric);
      return;
    }
    case 'tagged':
      yield* readSpans(text, findLastTag(text, surveyText(text)), settings);
      return;
    case 'unified': {
      yield* readSpans(text, [createSpan('whole', 0, text.length, true)], settings);
      const spoken = blankThinking(text);
      yield* readSpans(spoken, findUnifiedSpans(spoken), settings);
    }
  }
}

/** The words themselves, without the thinking: all an answer may consist of where a schema asks for a word or a number. */
export function findWords(text: string): readonly FoundCandidate[] {
  return surveyText(text).regions.map((region) =>
    foundCandidate({ ...region, finder: 'whole', untouched: false }, () =>
      untouched(text.slice(region.start, region.end).trim(), region.end),
    ),
  );
}

function* readSpans(text: string, spans: Iterable<Span>, settings: SearchSettings): Generator<FoundCandidate> {
  for (const span of spans) yield foundCandidate(span, () => readSpan(text, span, settings));
}

/** Profile `default`: the text, and all it may hold, one after the other. `inEnvelopes`: what was rejected so far may hold more. */
function* findAnywhere(
  text: string,
  settings: SearchSettings,
  inEnvelopes: () => Iterable<FoundCandidate> = () => [],
): Generator<FoundCandidate> {
  const valid = readStrict(text, 0, settings);
  if (valid !== undefined) {
    // What looks like thinking, tags or fences stands in its strings.
    yield foundCandidate(createSpan('whole', 0, text.length, true), () => valid);
    return;
  }
  const survey = surveyText(text);
  yield* readSpans(text, findMarkedSpans(text, survey, settings.limits.candidates), settings);
  yield* inEnvelopes();
  yield* findUnmarked(text, survey, settings);
}

/**
 * Where the answer must be looked for: after fences and in running text, objects before arrays, because `[1]` in prose is
 * seldom the answer. Only a reading shows where such a value ends. Values may overlap, and reading each to its end is not
 * linear: hence the budgets, in characters.
 */
function* findUnmarked(text: string, { regions }: Survey, settings: SearchSettings): Generator<FoundCandidate> {
  const most = settings.limits.candidates;
  const budget = 4 * text.length + 65_536;
  const fenced = new Map<number, Reading>();
  let left = budget;
  for (const candidate of readSpans(text, findFencedSpans(text, regions), settings)) {
    if (left < 0) break;
    const reading = candidate.read();
    fenced.set(candidate.start, reading);
    left -= reading.end - candidate.start;
    yield candidate;
  }
  const objects: FoundCandidate[] = [];
  const arrays: FoundCandidate[] = [];
  const spans = findProseSpans(text, regions);
  left = budget;
  for (let step = spans.next(-1); step.done !== true && objects.length < most && left > 0;) {
    const { start } = step.value;
    const first = fenced.get(start);
    const { reading, next, seen, span } = readProse(text, step.value, settings, first);
    // Counted apart: any number of `[INFO]` and `[1]` must not hide the one object.
    const found = text[start] === '[' ? arrays : objects;
    if (span !== undefined && first === undefined && found.length < most) {
      // A value whose repair depended on the text after it must also be readable alone.
      const isFinal = reading.ok ? reading.repairs.length === 0 : 'value' in reading;
      found.push(foundCandidate(span, () => (isFinal ? reading : readSpan(text, span, settings))));
    }
    left -= seen - start + COST_OF_TRY;
    step = spans.next(next);
  }
  yield* objects;
  yield* arrays;
}

/**
 * What the rejected values may hold inside; each is removed from the list. Contents that are rejected in turn join it
 * meanwhile, so that envelopes inside envelopes are opened too.
 */
function* findInEnvelopes(
  rejected: RejectedValue[],
  findInText: (text: string) => Iterable<FoundCandidate>,
): Generator<FoundCandidate> {
  for (let envelope = rejected.shift(); envelope !== undefined; envelope = rejected.shift()) {
    const { start, end, level } = envelope.candidate;
    if (level >= DEEPEST_ENVELOPE) continue;
    const inside = (readInside: () => Reading): FoundCandidate =>
      foundCandidate({ finder: 'envelope', start, end, untouched: false }, readInside, level + 1);
    for (const content of envelopeContents(envelope.value)) {
      if (typeof content !== 'string') yield inside(() => untouched(content, end));
      else for (const inner of findInText(content)) yield inside(() => moveReading(inner.read(), start, end));
    }
  }
}

/** Offsets inside the content mean nothing in the text around it: they become those of the envelope. */
function moveReading(reading: Reading, offset: number, end: number): Reading {
  const repairs = 'value' in reading ? reading.repairs.map((repair) => ({ ...repair, offset })) : [];
  return reading.ok
    ? { ...reading, repairs, end }
    : { ...reading, failure: { ...reading.failure, offset }, repairs, end };
}
