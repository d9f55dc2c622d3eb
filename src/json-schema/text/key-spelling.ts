import { jsonEquals } from '../json-values.js';
import { foldCase, foldSpelling } from './spelling.js';

/** A spelling that is the same for `firstName`, `first_name`, `First Name` and `FIRST-NAME`. */
export function foldKey(key: string): string {
  return foldSpelling(key.slice(0, 200));
}

/**
 * Matches keys that the schema does not know with names that are missing, by spelling. Only where one key can mean
 * one name: two spellings of the same name stay as they are.
 */
export function matchKeys(keys: readonly string[], names: readonly string[]): ReadonlyMap<string, string> {
  const present = new Set(keys);
  const known = new Set(names);
  const wanted = groupByFold(names);
  const given = groupByFold(keys.filter((key) => !known.has(key)));
  const matches = new Map<string, string>();
  for (const [fold, candidates] of given) {
    const targets = wanted.get(fold) ?? [];
    const [key] = candidates;
    const [name] = targets;
    if (key === undefined || name === undefined || candidates.length > 1 || targets.length > 1) continue;
    if (fold !== '' && !present.has(name)) matches.set(key, name);
  }
  return matches;
}

/**
 * Keys that are a second spelling of a property and hold another value: leaving one of them out would decide between
 * the two.
 */
export function findRepeatedKeys(
  value: Readonly<Record<string, unknown>>,
  names: readonly string[],
): ReadonlySet<string> {
  const present = names.filter((name) => Object.hasOwn(value, name));
  const byFold = new Map(present.map((name) => [foldKey(name), name]));
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

/** Keys whose content is not the answer, whatever it looks like. */
const NOT_ANSWERS =
  /error|exception|refus|example|sample|schema|template|previous|original|input|request|old|before|reject|invalid|wrong/;

/** Whether what stands under a key may be the answer. */
export function mayHoldAnswer(key: string): boolean {
  return !NOT_ANSWERS.test(foldCase(key));
}
