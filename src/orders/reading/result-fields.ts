import { foldKey, readSpellings } from '../shapes/spelling.js';
import type { SpelledFields } from '../shapes/spelling.js';

/** The fields of a work result, by the one name each has inside Sluice. */
const RESULT_FIELDS = [
  'issue_ref',
  'run_id',
  'status',
  'changes',
  'tests',
  'summary',
  'result_code',
  'blocked_by',
  'questions',
] as const;

/** The comment calls questions `OpenQuestions`, and workers copy that. */
const ALIASES: Readonly<Record<string, string>> = { openquestions: 'questions' };

/** Sorts what a worker wrote by field, whatever the spelling. */
export function readResultFields(
  entries: Iterable<readonly [string, unknown]>,
  names: readonly string[] = RESULT_FIELDS,
): SpelledFields {
  const named = [...entries].map(([key, value]) => [aliasOf(key) ?? key, value] as const);
  return readSpellings(named, names);
}

function aliasOf(key: string): string | undefined {
  const folded = foldKey(key);
  return Object.hasOwn(ALIASES, folded) ? ALIASES[folded] : undefined;
}

/** Tells whether a value is an object that is no list. */
export function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
