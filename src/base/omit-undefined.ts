/**
 * The fields that are defined, as `exactOptionalPropertyTypes` demands.
 *
 * @example
 * omitUndefined({ a: 1, b: undefined }) // { a: 1 }
 */
export function omitUndefined<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };
}
