import { createFieldTable } from '../../reading/record-fields.js';
import type { FieldTable } from '../../reading/record-fields.js';

/*
 * The output of `gemini --output-format stream-json` and `json`, and its fields. Everything else is drift.
 */

/** Fields of each `stream-json` record type. */
export const RECORD_FIELDS: FieldTable = createFieldTable(['type', 'timestamp'], {
  init: ['session_id', 'model'],
  message: ['role', 'content', 'delta'],
  tool_use: ['tool_name', 'tool_id', 'parameters'],
  tool_result: ['tool_id', 'status', 'output', 'error'],
  error: ['severity', 'message'],
  result: ['status', 'error', 'stats'],
});

/** Fields of a `result`'s `stats`; the fields of its models are not checked. */
export const STREAM_STATS_FIELDS: ReadonlySet<string> = new Set([
  'total_tokens',
  'input_tokens',
  'output_tokens',
  'cached',
  'input',
  'duration_ms',
  'tool_calls',
  'models',
]);

/** Fields of the `json` document. */
export const DOCUMENT_FIELDS: ReadonlySet<string> = new Set(['session_id', 'response', 'stats', 'error', 'warnings']);

/** Fields of the document's `stats`. */
export const DOCUMENT_STATS_FIELDS: ReadonlySet<string> = new Set(['models', 'tools', 'files']);

/** Fields of each model in the document. */
export const MODEL_FIELDS: ReadonlySet<string> = new Set(['api', 'tokens', 'roles']);

/** Fields of a model's `tokens` in the document. */
export const TOKEN_FIELDS: ReadonlySet<string> = new Set([
  'input',
  'prompt',
  'candidates',
  'total',
  'cached',
  'thoughts',
  'tool',
]);

/** Fields of `error`, in records and in the document. */
export const ERROR_FIELDS: ReadonlySet<string> = new Set(['type', 'message', 'code']);
