import { fieldTable } from '../../reading/field-table.js';
import type { FieldTable } from '../../reading/field-table.js';

/*
 * The records of `codex exec --json`: which there are and which fields they may have. Everything else is drift.
 */

/** Fields of each top-level type. */
export const RECORD_FIELDS: FieldTable = fieldTable(['type'], {
  'thread.started': ['thread_id'],
  'turn.started': [],
  'turn.completed': ['usage'],
  'turn.failed': ['error'],
  'item.started': ['item'],
  'item.updated': ['item'],
  'item.completed': ['item'],
  error: ['message'],
});

/** Fields of each type of item. */
export const ITEM_FIELDS: FieldTable = fieldTable(['type'], {
  agent_message: ['id', 'text'],
  reasoning: ['id', 'text'],
  command_execution: ['id', 'command', 'aggregated_output', 'exit_code', 'status'],
  file_change: ['id', 'changes', 'status'],
  mcp_tool_call: ['id', 'server', 'tool', 'arguments', 'result', 'error', 'status'],
  collab_tool_call: ['id', 'tool', 'sender_thread_id', 'receiver_thread_ids', 'prompt', 'agents_states', 'status'],
  web_search: ['id', 'query', 'action'],
  todo_list: ['id', 'items'],
  error: ['id', 'message'],
});

/** Fields of `usage`: tokens of the thread so far, not of the turn. */
export const USAGE_FIELDS: ReadonlySet<string> = new Set([
  'input_tokens',
  'cached_input_tokens',
  'cache_write_input_tokens',
  'output_tokens',
  'reasoning_output_tokens',
]);
