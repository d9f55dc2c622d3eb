/**
 * The fields that were given: what is undefined is left out, as optional fields want it.
 *
 * @example
 * given({ model: flags.model, mode: undefined }) // { model: 'gpt-5.5' }
 */
export function given<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };
}
