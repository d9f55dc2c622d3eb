/**
 * Returns a copy without undefined fields, as `exactOptionalPropertyTypes` requires.
 *
 * @example
 * omitUndefined({ a: 1, b: undefined }) // { a: 1 }
 */
export function omitUndefined<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };
}
