import type { EndSignal } from '../../protocol/completion.js';
import type { ParserName } from '../../protocol/engine-names.js';
import type { Usage } from '../../protocol/usage.js';
import type { FieldTable } from '../../reading/field-table.js';
import type { EngineErrorReport, Report } from '../report.js';

/** What the records of one program may look like. Everything that is not in here is drift. */
export interface RecordTables {
  /** Top-level types but `system`. */
  readonly records: FieldTable;
  /** `system` records by subtype. */
  readonly system: FieldTable;
  /** The `event` of a `stream_event`, by type. */
  readonly events: FieldTable;
  /** The `delta` of a `content_block_delta`, by type. */
  readonly deltas: FieldTable;
  /** Parts of a message, by type. */
  readonly blocks: FieldTable;
  readonly message: ReadonlySet<string>;
  readonly usage: ReadonlySet<string>;
}

/** What tells apart the programs that print records in the shape of Claude Code's. */
export interface Dialect {
  readonly tables: RecordTables;
  /** The parser’s name where a whole run is printed as one document at its end. */
  readonly documentParser: ParserName;
  readonly endSignal: EndSignal;
  /** Fields of `system init`. */
  readonly versionField: string;
  readonly permissionField: string;
  /** Tools that write a file, with the field of their input that names it. */
  readonly fileTools: ReadonlyMap<string, string>;
  /** Whether `input_tokens` counts what came from a cache. */
  readonly inputIncludesCache: boolean;
  /** The tokens of the session so far, from a `result`. */
  totalUsage(result: object, report: Report): Usage | null;
  /** A `system` record that tells of trouble; null for all others. */
  systemError(subtype: string, record: object): EngineErrorReport | null;
  /** A text that is not the agent’s but the program’s, about an error; null for all others. `record` carries it. */
  spokenError(text: string, record: object, usage: object | null): EngineErrorReport | null;
  /** Plain text that tells of trouble, in the log or instead of an answer; null for all other. */
  logError(line: string): EngineErrorReport | null;
  /** A document that is no record and tells why the program failed; null for all others. */
  errorDocument(value: object): EngineErrorReport | null;
}
