import type { RunRecord, RunResult } from '../records/index.js';

/**
 * What is counted of a run that has ended. Specs and results may be of any size; those who count thousands of runs read
 * only this.
 */
export interface RunDigest {
  readonly outcome: RunResult['status'];
  readonly repair_level: RunResult['repair_level'];
  /** Null if the program was not asked, or did not say. */
  readonly engine_version: string | null;
  readonly unknown_types: number;
  readonly unknown_fields: number;
}

/** A prompt is found by its beginning: nobody remembers more of it. */
const PROMPT_LENGTH = 4000;
const VERSION_LENGTH = 100;
const MOST_WORDS = 8;

/** The digest of a result. What came out of the cache was met by the run it was kept from. */
export function digestOf({ status, repair_level, process, drift, cached_from }: RunResult): RunDigest {
  const isOwn = cached_from === undefined;
  const version = isOwn ? (process?.version ?? null) : null;
  return {
    outcome: status,
    repair_level,
    engine_version: version === null ? null : plain(version).slice(0, VERSION_LENGTH),
    unknown_types: isOwn ? (drift?.unknown_types ?? 0) : 0,
    unknown_fields: isOwn ? (drift?.unknown_fields ?? 0) : 0,
  };
}

/** The text in which a run is searched for. */
export function searchTextOf({ id, spec, order }: Pick<RunRecord, 'id' | 'spec' | 'order'>): string {
  const { engine, workdir, command = [], prompt = '' } = spec;
  const parts = [id, engine, order?.issue_ref ?? '', workdir, command[0] ?? '', prompt.slice(0, PROMPT_LENGTH)];
  return foldCase(parts.join('\n'));
}

/**
 * The words a search asks for; a run is found if its text has them all.
 *
 * @example
 * searchWords('  Fix TEST ') // ['fix', 'test']
 */
export function searchWords(search: string): readonly string[] {
  return foldCase(search).split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);
}

/** The same in every store, whatever its database knows about letters. */
function foldCase(text: string): string {
  return plain(text).toLowerCase();
}

/** Databases cut a text at a NUL, or refuse it, and write half a character as they like. */
function plain(text: string): string {
  return text.replaceAll('\0', ' ').replaceAll(/\p{Surrogate}/gu, '\u{FFFD}');
}
