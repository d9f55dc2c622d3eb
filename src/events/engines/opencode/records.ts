import { fieldTable } from '../../reading/field-table.js';
import type { FieldTable } from '../../reading/field-table.js';

/*
 * The records of `opencode run --format json` and their parts. Everything else is drift.
 */

/** Fields of each type of record. */
export const RECORD_FIELDS: FieldTable = fieldTable(['type', 'timestamp', 'sessionID'], {
  step_start: ['part'],
  step_finish: ['part'],
  text: ['part'],
  reasoning: ['part'],
  tool_use: ['part'],
  error: ['error'],
});

/** Fields of the part each type of record carries. */
export const PART_FIELDS: FieldTable = fieldTable(['id', 'sessionID', 'messageID', 'type'], {
  step_start: ['snapshot'],
  step_finish: ['reason', 'snapshot', 'cost', 'tokens'],
  text: ['text', 'synthetic', 'ignored', 'time', 'metadata'],
  reasoning: ['text', 'time', 'metadata'],
  tool_use: ['callID', 'tool', 'state', 'metadata'],
});

/** Fields of a tool call's state. Its `metadata` is the tool's own business. */
export const STATE_FIELDS: ReadonlySet<string> = new Set([
  'status',
  'input',
  'output',
  'title',
  'metadata',
  'time',
  'attachments',
  'error',
  'raw',
]);

/** Fields of the tokens of a step: `input` does not count what came from the cache. */
export const TOKEN_FIELDS: ReadonlySet<string> = new Set(['total', 'input', 'output', 'reasoning', 'cache']);

/** Fields of an error; its `data` depends on its name. */
export const ERROR_FIELDS: ReadonlySet<string> = new Set(['name', 'data']);

/** The errors OpenCode names. */
export const ERROR_NAMES: ReadonlySet<string> = new Set([
  'ProviderAuthError',
  'UnknownError',
  'MessageOutputLengthError',
  'MessageAbortedError',
  'StructuredOutputError',
  'ContextOverflowError',
  'ContentFilterError',
  'APIError',
]);
