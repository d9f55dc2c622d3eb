import type { Problem } from '../../store/records/index.js';
import { isMissing } from '../proof/missing-evidence.js';
import { foldKey, readSpellings, type SpelledFields } from '../shapes/spelling.js';

/** The fields of a work result, by their snake_case names. `pr` and `commit` belong to `changes`. */
export const RESULT_FIELDS = [
  'issue_ref',
  'run_id',
  'status',
  'changes',
  'pr',
  'commit',
  'tests',
  'summary',
  'result_code',
  'blocked_by',
  'questions',
] as const;

/** Finds the known fields in an agent's result, in any spelling. */
export function readResultFields(
  entries: Iterable<readonly [string, unknown]>,
  names: readonly string[] = RESULT_FIELDS,
): SpelledFields {
  // The comment calls questions `OpenQuestions`, and agents copy that.
  const renamed = [...entries].map(
    ([key, value]) => [foldKey(key) === 'openquestions' ? 'questions' : key, value] as const,
  );
  return readSpellings(renamed, names);
}

/** Whether a value is an object and not a list. */
export function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Moves `PR` and `Commit` from the top level into `changes`. If a field is in both places, the values must agree. */
export function gatherChanges(fields: ReadonlyMap<string, unknown>): Pick<SpelledFields, 'known' | 'conflicts'> {
  const known = new Map(fields);
  const conflicts: Problem[] = [];
  const topLevelNames = ['pr', 'commit'].filter((name) => !isMissing(fields.get(name)));
  for (const name of ['pr', 'commit']) known.delete(name);
  const value = fields.get('changes');
  if (topLevelNames.length === 0 || !(isFields(value) || isMissing(value))) return { known, conflicts };
  const changes = new Map(isFields(value) ? Object.entries(value) : []);
  const nested = readResultFields(changes, ['pr', 'commit']).known;
  for (const name of topLevelNames) {
    if (isMissing(nested.get(name))) {
      changes.set(name, fields.get(name));
      // An empty value under another spelling of the key must not count as a second value.
      for (const key of changes.keys()) if (key !== name && foldKey(key) === name) changes.delete(key);
    } else if (nested.get(name) !== fields.get(name)) {
      const message = 'different values at the top level and in changes; keep one of them';
      conflicts.push({ code: 'KEY_CONFLICT', message, path: `changes.${name}` });
    }
  }
  return { known: known.set('changes', Object.fromEntries(changes)), conflicts };
}
