/** The weight of an event without its text. */
const EVENT_WEIGHT = 400;
/** The weight of a value that is not a string. */
const VALUE_WEIGHT = 8;

/**
 * Estimates an event's memory footprint, in characters, from all strings in its data at any depth. A page limits the
 * total, because a single event can have megabytes.
 */
export function measureWeight({ data }: { readonly data: object }): number {
  let weight = EVENT_WEIGHT;
  const pending: unknown[] = Object.values(data);
  while (pending.length > 0) {
    const value = pending.pop();
    weight += typeof value === 'string' ? value.length : VALUE_WEIGHT;
    if (typeof value !== 'object' || value === null) continue;
    const values: readonly unknown[] = Object.values(value);
    for (const inner of values) pending.push(inner);
  }
  return weight;
}
