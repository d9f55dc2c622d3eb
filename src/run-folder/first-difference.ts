/** Where two values first differ, and what each has there; undefined where it has nothing. */
export interface Difference {
  readonly path: readonly (string | number)[];
  readonly stored: unknown;
  readonly rebuilt: unknown;
}

/**
 * The first difference of two JSON values, undefined if they are equal. The order of keys does not matter.
 *
 * @example
 * firstDifference({ data: { text: 'a' } }, { data: { text: 'b' } }) // { path: ['data', 'text'], stored: 'a', rebuilt: 'b' }
 */
export function firstDifference(stored: unknown, rebuilt: unknown): Difference | undefined {
  // A stack of its own: agents nest values as deep as they like.
  const open: Difference[] = [{ path: [], stored, rebuilt }];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    if (pair.stored === pair.rebuilt) continue;
    if (!isContainer(pair.stored) || !isContainer(pair.rebuilt)) return pair;
    if (Array.isArray(pair.stored) !== Array.isArray(pair.rebuilt)) return pair;
    for (const member of members(pair).toReversed()) open.push(member);
  }
  return undefined;
}

function members({ path, stored, rebuilt }: Difference): Difference[] {
  const keys = new Set([...Object.keys(stored ?? {}), ...Object.keys(rebuilt ?? {})]);
  return [...keys].map((key) => ({
    path: [...path, Array.isArray(stored) ? Number(key) : key],
    stored: own(stored, key),
    rebuilt: own(rebuilt, key),
  }));
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function own(value: unknown, key: string): unknown {
  return isContainer(value) && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}
