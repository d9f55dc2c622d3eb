import { fieldTable } from '../../reading/field-table.js';

/*
 * The parts of a message as the model's provider defines them: the same for every program that passes them on.
 */

/** Parts of a message. */
export const BLOCK_FIELDS = fieldTable(['type', 'cache_control', 'annotations'], {
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

/** What a block grows by. */
export const DELTA_FIELDS = fieldTable(['type'], {
  text_delta: ['text'],
  thinking_delta: ['thinking', 'estimated_tokens'],
  input_json_delta: ['partial_json'],
  signature_delta: ['signature'],
  citations_delta: ['citation'],
  compaction_delta: ['content'],
});

/** The life of a message that is being written. */
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
