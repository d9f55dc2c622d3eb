import type { DriftSummary } from '../protocol/drift-summary.js';

/** Different types and paths that are counted; a hostile program could print a new one with every line. */
const MAX_NAMES = 1000;

/** Counts what this version does not know, so that a change of a program's format shows. */
export class DriftCounter {
  readonly #types = new Map<string, number>();
  readonly #fields = new Map<string, number>();

  addType(type: string): void {
    count(this.#types, type);
  }

  /** True the first time this path is met. */
  addField(path: string): boolean {
    return count(this.#fields, path) === 1;
  }

  /** The counts; null if nothing was met. */
  summary(about: Pick<DriftSummary, 'run_id' | 'attempt_number' | 'engine' | 'engine_version'>): DriftSummary | null {
    if (this.#types.size === 0 && this.#fields.size === 0) return null;
    return {
      summary: 'drift',
      ...about,
      unknown_types: Object.fromEntries(this.#types),
      unknown_fields: Object.fromEntries(this.#fields),
    };
  }
}

/** How often the name was met; names over the limit are not counted and never new. */
function count(names: Map<string, number>, name: string): number {
  const before = names.get(name) ?? 0;
  if (before === 0 && names.size >= MAX_NAMES) return 0;
  names.set(name, before + 1);
  return before + 1;
}
