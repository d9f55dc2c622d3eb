import { createFieldTable } from '../../reading/record-fields.js';
import type { RecordTables } from '../claude-shape/dialect.js';
import { BLOCK_FIELDS, DELTA_FIELDS, EVENT_FIELDS } from '../claude-shape/dialect.js';

/*
 * The records of `qwen --output-format stream-json`: the known types and their fields.
 */

const RECORDS = createFieldTable(['type', 'uuid', 'session_id'], {
  assistant: ['parent_tool_use_id', 'message'],
  user: ['parent_tool_use_id', 'message', 'options'],
  result: [
    'subtype',
    'is_error',
    'duration_ms',
    'duration_api_ms',
    'num_turns',
    'result',
    'structured_output',
    'structured_result',
    'usage',
    'modelUsage',
    'permission_denials',
    'error',
    'stats',
  ],
  stream_event: ['parent_tool_use_id', 'event'],
  control_request: ['request_id', 'request'],
  control_response: ['response'],
  control_cancel_request: ['request_id'],
});

/** All except `init` have their content in `data`. */
const SYSTEM_RECORDS = createFieldTable(['type', 'subtype', 'uuid', 'session_id', 'parent_tool_use_id', 'data'], {
  init: [
    'cwd',
    'tools',
    'mcp_servers',
    'model',
    'permission_mode',
    'slash_commands',
    'qwen_code_version',
    'output_style',
    'agents',
    'skills',
    'capabilities',
  ],
  session_start: [],
  session_end: [],
  compact_boundary: ['compact_metadata'],
  task_started: [],
  task_notification: [],
  retry: [],
  model_fallback: [],
  worktree_started: [],
  worktree_restored: [],
  continue_turn_failed: [],
});

/** Everything Qwen Code is known to print. */
export const QWEN_TABLES: RecordTables = {
  records: RECORDS,
  system: SYSTEM_RECORDS,
  events: createFieldTable(['type'], {
    ...EVENT_FIELDS,
    tool_progress: ['tool_use_id', 'content'],
    goal_state: ['goal_state'],
    active_goal: ['active_goal', 'goal'],
  }),
  deltas: DELTA_FIELDS,
  blocks: BLOCK_FIELDS,
  message: new Set(['id', 'type', 'role', 'model', 'content', 'stop_reason', 'usage']),
  usage: new Set([
    'input_tokens',
    'output_tokens',
    'cache_creation_input_tokens',
    'cache_read_input_tokens',
    'total_tokens',
    'server_tool_use',
    'service_tier',
    'cache_creation',
  ]),
};
