import { errorMessageOf } from '../../base/index.js';
import { parse } from '../../json/index.js';
import { showLine } from '../plain-text.js';
import { draftFromFields, draftFromText } from './draft-result.js';
import { normalizeResult } from './normalize-result.js';
import type { Problem, Reading } from '../../records/index.js';
import { isFields, readResultFields } from './result-fields.js';

/** What an encoding gives a reading. */
export type ResultReading = Pick<Reading, 'result' | 'problems' | 'notices' | 'draft'>;

// Nothing in a result is deep; a bomb is.
const DEPTH = 64;

/** Reads `work_result.json` strictly. What it takes a repair to read is a draft and never a result. */
export function readJsonResult(text: string): ResultReading {
  const read = readStrictly(text);
  if (read.problems.length > 0) return withDraft({ problems: read.problems }, draftFromText(text));
  if (!isFields(read.value)) {
    return { problems: [{ code: 'RESULT_NOT_OBJECT', message: 'it is JSON, but not an object' }] };
  }
  const { result, problems, notices } = normalizeResult(readResultFields(Object.entries(read.value)));
  const reading = { problems, ...(notices.length === 0 ? {} : { notices }) };
  if (result === undefined) return withDraft(reading, draftFromFields(Object.entries(read.value)));
  return { ...reading, result };
}

/** `JSON.parse`, and an objection to keys that are there twice: it would take the last one without a word. */
function readStrictly(text: string): { readonly value?: unknown; readonly problems: readonly Problem[] } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return notJson(errorMessageOf(error));
  }
  const parsed = parse(text, undefined, { profile: 'generic', detectDuplicates: true, limits: { depth: DEPTH } });
  if (!parsed.ok) return notJson(parsed.status === 'failed' ? parsed.error.message : 'it is a comment');
  const problems = parsed.warnings
    .filter(({ code }) => code === 'DUPLICATE_KEY')
    .map(({ path = [] }) => ({
      code: 'DUPLICATE_KEY',
      message: 'it is there twice; keep one of them',
      path: showLine(path.join('.'), 200),
    }));
  return { value, problems: problems.slice(0, 20) };
}

function notJson(message: string): { readonly problems: readonly Problem[] } {
  return { problems: [{ code: 'RESULT_NOT_JSON', message: `it is not JSON as it is: ${showLine(message, 200)}` }] };
}

function withDraft(reading: ResultReading, draft: unknown): ResultReading {
  return draft === undefined ? reading : { ...reading, draft };
}
