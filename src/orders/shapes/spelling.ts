import type { Problem } from '../../store/records/index.js';

/** The fields of an object: known ones by their snake_case name, and unknown ones. */
export interface SpelledFields {
  /** By snake_case name. */
  readonly known: ReadonlyMap<string, unknown>;
  /** In their original spelling. */
  readonly unknown: ReadonlyMap<string, unknown>;
  /** Keys in two spellings with different values, so it is ambiguous which one counts. */
  readonly conflicts: readonly Problem[];
}

/**
 * Reads `IssueRef`, `issue_ref` and `issueRef` as one key. Only keys of ASCII letters match, because other letters have
 * look-alikes.
 */
export function readSpellings(fields: Iterable<readonly [string, unknown]>, names: readonly string[]): SpelledFields {
  const nameByFolded = new Map(names.map((name) => [foldKey(name), name]));
  const known = new Map<string, unknown>();
  const unknown = new Map<string, unknown>();
  const conflicts: Problem[] = [];
  for (const [key, value] of fields) {
    const name = /^[A-Za-z_]+$/.test(key) ? nameByFolded.get(foldKey(key)) : undefined;
    if (name === undefined) {
      unknown.set(key, value);
    } else if (!known.has(name)) {
      known.set(name, value);
    } else if (known.get(name) !== value) {
      const message = 'two spellings with different values; keep one of them';
      conflicts.push({ code: 'KEY_CONFLICT', message, path: name });
    }
  }
  return { known, unknown, conflicts };
}

/** Returns the form shared by all spellings of a key. */
export function foldKey(key: string): string {
  return key.replaceAll('_', '').toLowerCase();
}
