import type { EndSignal } from '../../protocol/completion.js';
import type { ParserName } from '../../protocol/engine-names.js';
import type { Usage } from '../../protocol/event-parts.js';
import type { FieldTable } from '../../reading/record-fields.js';
import type { EngineErrorReport, Report } from '../report.js';
import { createFieldTable } from '../../reading/record-fields.js';

/** The known types and fields in one CLI's output. Everything else is drift. */
export interface RecordTables {
  /** Top-level types except `system`. */
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

/** The differences between CLIs that print records in Claude Code's format. */
export interface Dialect {
  readonly tables: RecordTables;
  /** The parser name for output that is a single document at the end of a run. */
  readonly documentParser: ParserName;
  readonly endSignal: EndSignal;
  /** Fields of `system init`. */
  readonly versionField: string;
  readonly permissionField: string;
  /** Tools that write a file, with the input field that names it. */
  readonly fileTools: ReadonlyMap<string, string>;
  /** Whether `input_tokens` includes cached tokens. */
  readonly inputIncludesCache: boolean;
  /** Reads the usage of the session so far from a `result`. */
  readTotalUsage(result: object, report: Report): Usage | null;
  /** Reads the error of a `system` record; null for any other record. */
  readSystemError(subtype: string, record: object): EngineErrorReport | null;
  /**
   * Reads an error that the CLI prints as an agent message; null for any other message. `record` contains the message.
   */
  readErrorText(text: string, record: object, usage: object | null): EngineErrorReport | null;
  /** Reads an error from plain text, in the log or in place of an answer; null for any other text. */
  readLogError(line: string): EngineErrorReport | null;
  /** Reads a document that is not a record and explains a failure; null for any other document. */
  readErrorDocument(value: object): EngineErrorReport | null;
}

/*
 * The parts of a message as defined by the model provider. All CLIs print them unchanged.
 */

/** The fields of each type of block. */
export const BLOCK_FIELDS = createFieldTable(['type', 'cache_control', 'annotations'], {
  text: ['text', 'citations'],
  thinking: ['thinking', 'signature'],
  redacted_thinking: ['data'],
  tool_use: ['id', 'name', 'input', 'caller'],
  server_tool_use: ['id', 'name', 'input', 'caller'],
  mcp_tool_use: ['id', 'name', 'input', 'server_name'],
  tool_result: ['tool_use_id', 'content', 'is_error'],
  advisor_tool_result: ['tool_use_id', 'content', 'is_error'],
  bash_code_execution_tool_result: ['tool_use_id', 'content'],
  code_execution_tool_result: ['tool_use_id', 'content'],
  mcp_tool_result: ['tool_use_id', 'content', 'is_error'],
  text_editor_code_execution_tool_result: ['tool_use_id', 'content'],
  tool_search_tool_result: ['tool_use_id', 'content'],
  web_fetch_tool_result: ['tool_use_id', 'content', 'caller'],
  web_search_tool_result: ['tool_use_id', 'content', 'caller'],
  image: ['source'],
  document: ['source', 'title', 'context', 'citations'],
  compaction: ['content'],
  container_upload: ['file_id'],
  fallback: ['content', 'model'],
});

/** The fields of each type of delta. */
export const DELTA_FIELDS = createFieldTable(['type'], {
  text_delta: ['text'],
  thinking_delta: ['thinking', 'estimated_tokens'],
  input_json_delta: ['partial_json'],
  signature_delta: ['signature'],
  citations_delta: ['citation'],
  compaction_delta: ['content'],
});

/** The fields of each stream event. */
export const EVENT_FIELDS = {
  message_start: ['message'],
  content_block_start: ['index', 'content_block'],
  content_block_delta: ['index', 'delta'],
  content_block_stop: ['index'],
  message_delta: ['delta', 'usage', 'context_management'],
  message_stop: [],
  ping: [],
  error: ['error'],
} as const;
