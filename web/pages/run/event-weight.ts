/** What an event costs beside its words. */
const ENVELOPE = 400;

/**
 * About how many characters an event keeps in memory: those of its data, two levels down. A page holds a bounded number of
 * them, and an agent may print megabytes in one.
 */
export function weightOf({ data }: { readonly data: object }): number {
  let weight = ENVELOPE;
  for (const value of Object.values<unknown>({ ...data })) {
    if (typeof value === 'string') weight += value.length;
    else if (typeof value === 'object' && value !== null) {
      for (const inner of Object.values<unknown>({ ...value })) weight += typeof inner === 'string' ? inner.length : 8;
    }
  }
  return weight;
}
