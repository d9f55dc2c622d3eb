import { findFencedValues } from '../find/fence-finder.js';
import { findNdjsonLines } from '../find/ndjson-finder.js';
import { findProseValues, readingBudget } from '../find/prose-finder.js';
import { surveyText, type Survey, type TagBlock } from '../find/survey.js';
import { readBlock, readMending, readOpen, readStrict } from '../read-candidate.js';
import { untouched, type Reading } from '../reader/read-value.js';
import { repairAt } from '../repair.js';
import type { SearchSettings } from '../search-settings.js';
import { found, type FoundCandidate } from './found-candidate.js';

/** The text as it is, and all it may hold, one after the other. `inEnvelopes`: what was rejected so far may hold more. */
export function* findAnywhere(
  text: string,
  settings: SearchSettings,
  inEnvelopes: () => Iterable<FoundCandidate> = () => [],
): Generator<FoundCandidate> {
  const { length } = text;
  const valid = readStrict(text, 0, settings);
  if (valid !== undefined) {
    // What looks like thinking, tags or fences stands in its strings.
    yield found('whole', 0, length, () => readBlock(text, 0, length, settings), true, valid);
    return;
  }
  const survey = surveyText(text);
  yield* findMarked(text, survey, settings);
  yield* inEnvelopes();
  yield* findUnmarked(text, survey, settings);
}

/** Where the answer is known to stand: all of the text but the thinking, a tag, a line of NDJSON. */
function* findMarked(text: string, survey: Survey, settings: SearchSettings): Generator<FoundCandidate> {
  const { regions, blocks } = survey;
  const [only] = regions;
  if (only !== undefined && regions.length === 1) {
    const content = text.slice(only.start, only.end);
    const start = only.start + content.length - content.trimStart().length;
    const end = start + content.trim().length;
    // As a whole the text is known to be no valid JSON.
    if (content.length === text.length)
      yield found('whole', 0, text.length, () => readMending(text, 0, settings, settings.repairs), true);
    else yield found('whole', start, end, () => readBlock(text, start, end, settings));
  }
  for (const tag of blocks.toReversed()) yield tagCandidate(text, tag, settings);
  for (const { start, end } of findNdjsonLines(text, regions, settings.limits.candidates))
    yield found('ndjson', start, end, () => readBlock(text, start, end, settings, settings.repairsInProse));
}

/** Where the answer must be looked for: behind fences and in running text. To find a value there is to read it. */
function* findUnmarked(text: string, { regions }: Survey, settings: SearchSettings): Generator<FoundCandidate> {
  const open = (finder: 'fence' | 'prose', start: number, end: number, first?: Reading): FoundCandidate =>
    found(finder, start, end, () => readOpen(text, start, end, settings), false, first);
  const fenced = new Map<number, Reading>();
  let budget = readingBudget(text);
  for (const { start, end } of findFencedValues(text, regions)) {
    if (budget < 0) break;
    const [block = ''] = text.slice(start, end).split('```', 1);
    const strict = readStrict(block.trimEnd(), start, settings);
    const reading = strict?.ok === true ? strict : readOpen(text, start, end, settings);
    budget -= reading.end - start;
    fenced.set(start, reading);
    yield open('fence', start, end, reading);
  }
  const { limits, hasSchema } = settings;
  const values = findProseValues(
    text,
    regions,
    limits.candidates,
    !hasSchema,
    (start, end) => fenced.get(start) ?? readOpen(text, start, end, settings),
  );
  for (const { start, end, reading } of values) {
    // What was mended with an eye on the text behind it must stand the test of being read alone.
    const isFinal = reading.ok ? reading.repairs.length === 0 : 'value' in reading;
    if (!fenced.has(start)) yield open('prose', start, end, isFinal ? reading : undefined);
  }
}

/** The words themselves, without the thinking: all an answer may consist of where a schema asks for a word or a number. */
export function findSpokenText(text: string): readonly FoundCandidate[] {
  return surveyText(text).regions.map(({ start, end }) => {
    const value = text.slice(start, end).trim();
    return found('whole', start, end, () => untouched(value, end));
  });
}

/** Profile `tagged`: the last block and no other; untouched if it is closed and clean. */
export function* findLastTag(text: string, settings: SearchSettings): Generator<FoundCandidate> {
  const last = surveyText(text).blocks.at(-1);
  if (last !== undefined) yield { ...tagCandidate(text, last, settings), untouched: last.closed };
}

/** A `<json>` block; where it cannot be read, with the closing tags inside its strings, or without the prose before it. */
function tagCandidate(text: string, { start, end, lastClose }: TagBlock, settings: SearchSettings): FoundCandidate {
  return found('tag', start, end, () => {
    const reading = readBlock(text, start, end, settings);
    if (reading.ok) return reading;
    const bracket = start + text.slice(start, end).search(/[[{]|$/);
    const extended = readBlock(text, start, lastClose, settings);
    if (extended.ok) return extended;
    const inner = readOpen(text, bracket, end, settings);
    const isBetter = 'value' in inner && (inner.ok || !('value' in reading));
    return isBetter ? { ...inner, repairs: [repairAt('extracted', bracket), ...inner.repairs] } : reading;
  });
}
