import type { Problem } from '../../records/index.js';

/** An object's fields under the one name each has inside Sluice, and what has no such name. */
export interface SpelledFields {
  /** By snake_case name. */
  readonly known: ReadonlyMap<string, unknown>;
  /** Under the spelling that was used. */
  readonly unknown: ReadonlyMap<string, unknown>;
  /** One key in two spellings with different values: it is unknown which one counts. */
  readonly conflicts: readonly Problem[];
}

/**
 * Reads `IssueRef`, `issue_ref` and `issueRef` as one key. Only ASCII letters fold: others have look-alikes.
 *
 * @example
 * readSpellings([['RunID', '1'], ['mood', 'good']], ['run_id']).known // Map { 'run_id' → '1' }
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

/** Returns the common form of all spellings of a key. */
export function foldKey(key: string): string {
  return key.replaceAll('_', '').toLowerCase();
}
