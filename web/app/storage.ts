/** Reads a stored value; null if there is none, or if the browser forbids storage. */
export function readStored(key: string, storage: 'local' | 'session' = 'local'): string | null {
  try {
    return getStorage(storage).getItem(key);
  } catch {
    return null;
  }
}

/** Stores a value; null removes it. Storage may be forbidden or full; then the value lasts until the page is closed. */
export function writeStored(key: string, value: string | null, storage: 'local' | 'session' = 'local'): void {
  try {
    if (value === null) getStorage(storage).removeItem(key);
    else getStorage(storage).setItem(key, value);
  } catch {
    // See above.
  }
}

/** Parses stored JSON; null if it is missing or invalid. */
export function parseStored(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}

/** Whether a value is an object and no list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function getStorage(storage: 'local' | 'session'): Storage {
  return storage === 'local' ? localStorage : sessionStorage;
}
