import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { parseStored, readStored, writeStored } from '../app/storage.js';

/** Keeps a draft while the tab is open. It survives navigation, reloads and an unreachable server. */
export function useDraft<Fields extends DraftFields>(name: string, initial: Fields) {
  const key = `sluice.draft ${name}`;
  const fields = useSignal<Readonly<{ key: string; value: Fields }>>({
    key,
    value: readDraft(readStored(key, 'session'), initial),
  });
  // A different name means a different draft, even in the same component.
  const current = fields.value.key === key ? fields.value.value : readDraft(readStored(key, 'session'), initial);
  useEffect(() => {
    if (fields.value.key !== key) fields.value = { key, value: current };
  }, [key]);
  return {
    fields: current,
    change: (changes: Partial<Fields>): void => {
      const stored = fields.peek();
      const next = { ...(stored.key === key ? stored.value : current), ...changes };
      fields.value = { key, value: next };
      writeStored(key, JSON.stringify(next), 'session');
    },
    discard: (): void => {
      fields.value = { key, value: initial };
      writeStored(key, null, 'session');
    },
  };
}

export type DraftFields = Readonly<Record<string, string | boolean>>;

/** Reads a stored draft; missing or invalid fields get their initial values. */
export function readDraft<Fields extends DraftFields>(text: string | null, initial: Fields): Fields {
  const stored = parseStored(text);
  if (typeof stored !== 'object' || stored === null) return initial;
  const storedFields = new Map<string, unknown>(Object.entries(stored));
  const values = Object.entries(initial).map(([name, value]) => {
    const storedValue = storedFields.get(name);
    return [name, typeof storedValue === typeof value ? storedValue : value];
  });
  // Every field has the type of its initial value.
  return Object.fromEntries(values) as Fields;
}
