import { SDK_FIELDS } from './sdk-fields.js';
import { createFieldTable } from '../../reading/record-fields.js';
import type { RecordTables } from '../claude-shape/dialect.js';
import { BLOCK_FIELDS, DELTA_FIELDS, EVENT_FIELDS } from '../claude-shape/dialect.js';

/*
 * The records of `claude -p --output-format stream-json`: the known types and their fields.
 */

const ENVELOPE = ['type', 'uuid', 'session_id'] as const;
const SYSTEM = [...ENVELOPE, 'subtype'] as const;
const HOOK = ['hook_id', 'hook_name', 'hook_event'] as const;
const HOOK_OUTPUT = [...HOOK, 'output', 'stdout', 'stderr'] as const;
const TASK = ['task_id', 'tool_use_id', 'description', 'subagent_type', 'skip_transcript'] as const;
const TURN = ['user_message_uuid', 'user_message_uuids', 'resume_reason', 'agent_id', 'timestamp'] as const;
const SUB_AGENT = ['parent_tool_use_id', 'subagent_type', 'task_description'] as const;

/** Records and fields that are not in the published types of Claude Code, or only in older versions. */
const OTHER_RECORDS: Readonly<Record<string, readonly string[]>> = {
  assistant: [
    ...SUB_AGENT,
    ...TURN,
    'message',
    'error',
    'is_api_error_message',
    'api_error_status',
    'api_error_type',
    'request_id',
    'supersedes',
    'thinking_display',
    'thinking_duration_ms',
    'tool_use_meta',
    'aborted',
    'context_usage',
    'usage_report',
    'isReplay',
  ],
  user: [
    ...SUB_AGENT,
    ...TURN,
    'message',
    'tool_use_result',
    'tool_result_meta',
    'isReplay',
    'isSynthetic',
    'origin',
    'priority',
    'shouldQuery',
    'file_attachments',
  ],
  result: [
    'subtype',
    'is_error',
    'duration_ms',
    'duration_api_ms',
    'num_turns',
    'result',
    'structured_output',
    'deferred_tool_use',
    'total_cost_usd',
    'usage',
    'modelUsage',
    'model_usage_since_last_result',
    'permission_denials',
    'errors',
    'stop_reason',
    'api_error_status',
    'api_error_type',
    'terminal_reason',
    'fast_mode_state',
    'fast_mode_disabled_reason',
    'subagent_stats',
    'safety_stops',
    'ttft_ms',
    'ttft_stream_ms',
    'time_to_request_ms',
    'time_to_request_from_spawn_ms',
    'time_origin_ms',
    'warm_spare_claimed',
    'first_content_frame_ms',
    'queued_turn_count',
    'result_index',
    'origin',
    ...TURN,
  ],
  stream_event: ['parent_tool_use_id', 'event', 'ttft_ms', 'thinking_display', 'api_message_id'],
  rate_limit_event: ['rate_limit_info'],
  tool_progress: ['parent_tool_use_id', 'tool_use_id', 'tool_name', 'elapsed_time_seconds', 'task_id'],
  tool_use_summary: ['summary', 'preceding_tool_use_ids'],
  auth_status: ['isAuthenticating', 'output', 'error'],
  prompt_suggestion: ['suggestion'],
  conversation_reset: ['new_conversation_id'],
  control_request: ['request_id', 'request'],
  control_response: ['response'],
  control_cancel_request: ['request_id'],
  keep_alive: [],
};

const OTHER_SYSTEM_RECORDS: Readonly<Record<string, readonly string[]>> = {
  init: [
    'cwd',
    'model',
    'tools',
    'mcp_servers',
    'permissionMode',
    'apiKeySource',
    'slash_commands',
    'terminal_slash_commands',
    'agents',
    'skills',
    'plugins',
    'betas',
    'output_style',
    'capabilities',
    'claude_code_version',
    'plugin_errors',
    'mcp_server_errors',
    'analytics_disabled',
    'product_feedback_disabled',
    'memory_paths',
    'original_cwd',
    'additional_directories',
    'messaging_socket_path',
    'fast_mode_state',
    'fast_mode_disabled_reason',
    'per_turn_effort_active',
    'ultrathink_available',
    'ultrathink_typed_raises',
    'view_mode',
  ],
  status: ['status', 'permissionMode', 'compact_result', 'compact_error'],
  compact_boundary: ['compact_metadata'],
  api_retry: ['attempt', 'max_retries', 'retry_delay_ms', 'error_status', 'error'],
  hook_started: [...HOOK],
  hook_progress: [...HOOK_OUTPUT],
  hook_response: [...HOOK_OUTPUT, 'exit_code', 'outcome'],
  task_started: [...TASK, 'task_type', 'workflow_name', 'prompt'],
  task_progress: [...TASK, 'usage', 'last_tool_name', 'summary'],
  task_updated: ['task_id', 'patch'],
  task_notification: [...TASK, 'status', 'output_file', 'summary', 'usage'],
  background_tasks_changed: ['tasks'],
  files_persisted: ['files', 'failed', 'processed_at'],
  local_command_output: ['content'],
  commands_changed: ['commands'],
  plugin_install: ['status', 'name', 'error'],
  session_state_changed: ['state'],
  memory_recall: ['mode', 'memories'],
  permission_denied: ['tool_name', 'tool_use_id', 'message', 'reason', 'decision_reason_type'],
  elicitation_complete: ['mcp_server_name', 'elicitation_id'],
  notification: ['key', 'text', 'priority', 'color', 'timeout_ms'],
  informational: ['content', 'level', 'tool_use_id', 'prevent_continuation'],
  thinking_tokens: ['estimated_tokens', 'estimated_tokens_delta'],
  worker_shutting_down: ['reason'],
  mirror_error: ['error', 'key'],
  control_request_progress: ['request_id', 'status', 'attempt', 'max_retries', 'retry_delay_ms', 'error_status'],
  model_refusal_fallback: [
    'trigger',
    'direction',
    'original_model',
    'fallback_model',
    'request_id',
    'content',
    'retracted_message_uuids',
    'refused_user_message_uuid',
  ],
  model_refusal_no_fallback: ['original_model', 'request_id', 'content'],
};

/** Merges the published fields with the additional ones. */
function mergeTables(
  prefix: string,
  others: Readonly<Record<string, readonly string[]>>,
): Record<string, readonly string[]> {
  const publishedEntries = Object.entries(SDK_FIELDS).filter(
    ([key]) => key.startsWith(prefix) && !key.slice(prefix.length).includes(' '),
  );
  const merged: Record<string, readonly string[]> = { ...others };
  for (const [key, fields] of publishedEntries) {
    const type = key.slice(prefix.length);
    if (prefix === '' && type === 'system') continue;
    merged[type] = [...(merged[type] ?? []), ...fields];
  }
  return merged;
}

const RECORDS = createFieldTable(ENVELOPE, mergeTables('', OTHER_RECORDS));
const SYSTEM_RECORDS = createFieldTable(SYSTEM, mergeTables('system ', OTHER_SYSTEM_RECORDS));

/** Everything Claude Code is known to print. */
export const CLAUDE_TABLES: RecordTables = {
  records: RECORDS,
  system: SYSTEM_RECORDS,
  events: createFieldTable(['type'], EVENT_FIELDS),
  deltas: DELTA_FIELDS,
  blocks: BLOCK_FIELDS,
  message: new Set([
    'id',
    'type',
    'role',
    'model',
    'content',
    'stop_reason',
    'stop_sequence',
    'stop_details',
    'usage',
    'context_management',
    'container',
    'diagnostics',
  ]),
  usage: new Set([
    'input_tokens',
    'output_tokens',
    'cache_creation_input_tokens',
    'cache_read_input_tokens',
    'cache_creation',
    'output_tokens_details',
    'server_tool_use',
    'service_tier',
    'inference_geo',
    'iterations',
    'speed',
    'fallback_credit',
  ]),
};
