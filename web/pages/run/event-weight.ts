/** What an event costs beside its words. */
const ENVELOPE = 400;

/**
 * About how many characters an event keeps in memory: those of its data, two levels down. A page holds a bounded number of
 * them, and an agent may print megabytes in one.
 */
export function weightOf({ data }: { readonly data: object }): number {
  let weight = ENVELOPE;
  const values: readonly unknown[] = Object.values(data);
  for (const value of values) {
    if (typeof value === 'string') weight += value.length;
    else if (typeof value === 'object' && value !== null) {
      const inners: readonly unknown[] = Object.values(value);
      for (const inner of inners) weight += typeof inner === 'string' ? inner.length : 8;
    }
  }
  return weight;
}
