import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** Something half written, and what changes it. */
interface Draft<Fields extends DraftFields> {
  readonly fields: Fields;
  readonly change: (changes: Partial<Fields>) => void;
  /** Discards the draft: it was sent, or is not wanted. */
  readonly forget: () => void;
}

/**
 * Keeps a draft while the tab is open: it survives another page, a reload and a server that does not respond.
 *
 * @example
 * const { fields, change, forget } = useDraft(`inbox ${id}`, { why: '' })
 */
export function useDraft<Fields extends DraftFields>(name: string, initial: Fields): Draft<Fields> {
  const key = `sluice.draft ${name}`;
  const fields = useSignal<{ readonly key: string; readonly value: Fields }>({ key, value: read(key, initial) });
  // Another name is another draft, in the same place of the page.
  const current = fields.value.key === key ? fields.value.value : read(key, initial);
  useEffect(() => {
    if (fields.value.key !== key) fields.value = { key, value: current };
  }, [key]);
  return {
    fields: current,
    change: (changes) => {
      const kept = fields.peek();
      const next = { ...(kept.key === key ? kept.value : current), ...changes };
      fields.value = { key, value: next };
      write(key, JSON.stringify(next));
    },
    forget: () => {
      fields.value = { key, value: initial };
      write(key, null);
    },
  };
}

function read<Fields extends DraftFields>(key: string, initial: Fields): Fields {
  try {
    return readDraft(sessionStorage.getItem(key), initial);
  } catch {
    return initial;
  }
}

function write(key: string, text: string | null): void {
  try {
    if (text === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, text);
  } catch {
    // A browser may forbid storage, or it is full; then the draft lasts until the page is closed.
  }
}

/** The fields of a form's draft. */
type DraftFields = Readonly<Record<string, string | boolean>>;

/** Reads the saved draft as far as it is valid: other fields keep their initial values. */
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
