/** The memory of an event besides its text. */
const ENVELOPE = 400;
/** The size that counts for a value that is not a string. */
const VALUE = 8;

/**
 * About how many characters an event keeps in memory: those of its data at any depth. A page holds a bounded
 * number of them, and an agent may print megabytes in one.
 */
export function measureWeight({ data }: { readonly data: object }): number {
  let weight = ENVELOPE;
  const waiting: unknown[] = Object.values(data);
  while (waiting.length > 0) {
    const value = waiting.pop();
    weight += typeof value === 'string' ? value.length : VALUE;
    if (typeof value !== 'object' || value === null) continue;
    const inners: readonly unknown[] = Object.values(value);
    for (const inner of inners) waiting.push(inner);
  }
  return weight;
}
