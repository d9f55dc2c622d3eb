/** What a form holds while it is written. */
export type DraftFields = Readonly<Record<string, string | boolean>>;

/** What was kept, as far as it fits: fields of another kind or name are as in the beginning. */
export function readDraft<Fields extends DraftFields>(text: string | null, initial: Fields): Fields {
  if (text === null) return initial;
  let kept: unknown;
  try {
    kept = JSON.parse(text);
  } catch {
    return initial;
  }
  if (typeof kept !== 'object' || kept === null) return initial;
  const found = new Map<string, unknown>(Object.entries(kept));
  const fitting = Object.entries(initial).map(([name, value]) => {
    const was = found.get(name);
    return [name, typeof was === typeof value ? was : value];
  });
  // Name by name the same kinds as before.
  return Object.fromEntries(fitting) as Fields;
}
