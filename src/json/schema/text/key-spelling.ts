import { jsonEquals } from '../json-values.js';
import { foldCase, foldSpelling } from './spelling.js';

/** Normalizes a key: the result is the same for `firstName`, `first_name`, `First Name` and `FIRST-NAME`. */
export function foldKey(key: string): string {
  return foldSpelling(key.slice(0, 200));
}

/**
 * Matches unknown keys with missing names by their spelling. A key is matched only if it is the only spelling of the
 * only name: two spellings of one name stay unchanged.
 */
export function matchKeys(keys: readonly string[], names: readonly string[]): ReadonlyMap<string, string> {
  const presentNames = new Set(keys);
  const known = new Set(names);
  const wanted = groupByFold(names);
  const unknownKeys = groupByFold(keys.filter((key) => !known.has(key)));
  const matches = new Map<string, string>();
  for (const [fold, candidates] of unknownKeys) {
    const targets = wanted.get(fold) ?? [];
    const [key] = candidates;
    const [name] = targets;
    if (key === undefined || name === undefined || candidates.length > 1 || targets.length > 1) continue;
    if (fold !== '' && !presentNames.has(name)) matches.set(key, name);
  }
  return matches;
}

/**
 * Finds keys that are a second spelling of a property with a different value: dropping one would choose between the
 * two.
 */
export function findRepeatedKeys(
  value: Readonly<Record<string, unknown>>,
  names: readonly string[],
): ReadonlySet<string> {
  const presentNames = names.filter((name) => Object.hasOwn(value, name));
  const byFold = new Map(presentNames.map((name) => [foldKey(name), name]));
  const known = new Set(names);
  const repeated = Object.keys(value).filter((key) => {
    const name = known.has(key) ? undefined : byFold.get(foldKey(key));
    return name !== undefined && !jsonEquals(value[name], value[key]);
  });
  return new Set(repeated);
}

function groupByFold(keys: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const key of keys) {
    const fold = foldKey(key);
    const group = groups.get(fold);
    if (group === undefined) groups.set(fold, [key]);
    else group.push(key);
  }
  return groups;
}

/** Keys whose value is never the answer. */
const NON_ANSWER_KEYS =
  /error|exception|refus|example|sample|schema|template|previous|original|input|request|old|before|reject|invalid|wrong/;

/** Whether a key's value can be the answer. */
export function mayContainAnswer(key: string): boolean {
  return !NON_ANSWER_KEYS.test(foldCase(key));
}
