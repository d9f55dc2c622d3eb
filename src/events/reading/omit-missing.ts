/**
 * The fields that have a value. On the wire a field that is not known is absent, never null.
 *
 * @example
 * omitMissing({ model: 'm', reason: null }) // { model: 'm' }
 */
export function omitMissing<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]?: Exclude<Fields[Key], null | undefined> } {
  const kept: { [Key in keyof Fields]?: Exclude<Fields[Key], null | undefined> } = {};
  for (const key in fields) {
    const value = fields[key];
    if (value !== null && value !== undefined) kept[key] = value as Exclude<Fields[typeof key], null | undefined>;
  }
  return kept;
}
