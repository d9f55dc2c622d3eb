import type { EndSignal } from '../../protocol/completion.js';
import type { ParserName } from '../../protocol/engine-names.js';
import type { Usage } from '../../protocol/event-parts.js';
import type { KnownFields } from '../../reading/record-fields.js';
import type { Engine } from '../engine.js';
import type { EngineError } from '../fact.js';

/** The differences between CLIs that print records in Claude Code's format. */
export interface Dialect extends Pick<Engine, 'name' | 'parser' | 'parserVersion'> {
  readonly fields: KnownFields;
  /** The parser name for output that is a single document at the end of a run. */
  readonly documentParser: ParserName;
  readonly endSignal: EndSignal;
  /** Fields of `system init`. */
  readonly versionField: string;
  readonly permissionField: string;
  /** Tools that write a file, with the input field that names it. */
  readonly fileTools: ReadonlyMap<string, string>;
  readonly inputIncludesCache: boolean;
  /** The confidence that the CLI printed a record of a known type; for `system`, an `init` without its version. */
  readonly scoreRecord: (type: string, record: object) => number;
  /** Reads the usage of the session so far from a `result`. */
  readTotalUsage(result: object): Usage | null;
  /** Reads the error of a `system` record; null for any other record. */
  readSystemError(subtype: string, record: object): EngineError | null;
  /** Reads an error that the CLI prints as an agent message, which is in `record`; null for any other. */
  readErrorText(text: string, record: object, usage: object | null): EngineError | null;
  /** Reads an error from plain text, in the log or in place of an answer; null for any other text. */
  readLogError(line: string): EngineError | null;
  /** Reads a document that is not a record and explains a failure; null for any other document. */
  readErrorDocument(value: object): EngineError | null;
}
