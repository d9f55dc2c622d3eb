import { anything, count, flag, listKeys, name, text, timestamp } from '../../base/index.js';
import type { FromSchema, ObjectSchema, Schema } from '../../base/index.js';

/** A number that is not negative, such as a duration in milliseconds. */
const amount = { type: 'number', minimum: 0 } as const;

/**
 * What an engine reports about an event beyond its text: times, durations, limits and reasons, under the same name for
 * every engine. A field is absent if the engine did not report it. Lists and objects have the engine's own members, in
 * snake_case, at most 4 KiB of them.
 *
 * Each field has its schema and the engines' names for it. A name after a dot counts only in that object; the objects
 * `data`, `part` and `event` count as the record, which has the name of its type or subtype.
 */
const FIELDS = {
  /** When a message or a tool call started and ended, by the engine's clock. */
  started_at: [timestamp, 'time.start startedAtMs turn.startedAt thread.createdAt'],
  ended_at: [timestamp, 'time.end completedAtMs patch.end_time turn.completedAt'],
  duration_ms: [
    amount,
    'duration_ms durationMs sessionDurationMs dispatchDurationMs totalDurationMs thinking_duration_ms assistant.usage.duration',
  ],
  /** The part of `duration_ms` that was spent in requests to the model. */
  duration_api_ms: [amount, 'duration_api_ms totalApiDurationMs'],
  /** From the start until the first token, the first event of the stream, and the request. */
  ttft_ms: [amount, 'ttft_ms'],
  ttft_stream_ms: [amount, 'ttft_stream_ms first_content_frame_ms'],
  time_to_request_ms: [amount, 'time_to_request_ms'],
  turns: [count, 'num_turns'],
  queued_turns: [count, 'queued_turn_count piAcp.queueDepth'],
  safety_stops: [count, 'safety_stops'],
  /** Why the model stopped, and why the engine did. */
  stop_reason: [text, 'stop_reason stopReason step_finish.reason'],
  terminal_reason: [text, 'terminal_reason'],
  outcome: [text, 'outcome model.call_final_result.result'],
  state: [text, 'status.status goal_state.activity session_state_changed.state task_notification.status patch.status'],
  exit_code: [{ type: ['integer', 'null'] }, 'result.exitCode'],
  model: [name, 'model newModel selectedModel resolvedModel model.modelID models.currentModelId _claude/model'],
  provider: [text, 'modelProvider model.providerID'],
  provider_type: [text, 'providerType'],
  service_tier: [text, 'service_tier'],
  speed: [text, 'usage.speed'],
  /** The engine and its surroundings. */
  engine_version: [text, 'claude_code_version qwen_code_version copilotVersion cliVersion'],
  agent: [anything, 'agentInfo'],
  workdir: [text, 'cwd'],
  /** The file in which the engine keeps the session. */
  session_file: [text, 'thread.path'],
  network_access: [flag, 'sandbox.networkAccess'],
  permission_mode: [text, 'permissionMode permission_mode approvalPolicy'],
  /** The mode of an agent of the Agent Client Protocol: of permissions, of planning or of thinking. */
  mode: [text, 'modes.currentModeId update.currentModeId'],
  auth_status: [anything, 'authStatus'],
  api_key_source: [text, 'apiKeySource'],
  output_style: [text, 'output_style'],
  memory_paths: [anything, 'memory_paths'],
  tools: [anything, 'init.tools'],
  agents: [anything, 'init.agents'],
  skills: [anything, 'skills'],
  plugins: [anything, 'plugins'],
  mcp_servers: [anything, 'mcp_servers servers'],
  /** Totals: tokens and requests of each model, calls of each tool, times of generation, sub-agents, and lines of files. */
  models: [anything, 'stats.models modelUsage'],
  tool_stats: [anything, 'stats.tools toolStats toolTelemetry.metrics'],
  generation: [anything, 'stats.generation'],
  subagents: [anything, 'subagent_stats'],
  tool_calls: [count, 'tool_calls'],
  tool_uses: [count, 'tool_uses totalToolUseCount'],
  total_tokens: [count, 'tool_use_result.totalTokens task_progress.total_tokens'],
  estimated_tokens: [count, 'estimated_tokens'],
  lines_added: [count, 'linesAdded totalLinesAdded additions'],
  lines_removed: [count, 'linesRemoved totalLinesRemoved deletions'],
  web_searches: [count, 'web_search_requests'],
  web_fetches: [count, 'web_fetch_requests'],
  premium_requests: [amount, 'premiumRequests'],
  /** A tool call: its title and kind, its images and other files, and whether it was interrupted, shortened or changed by the user. */
  title: [text, 'toolTitle state.title request.description display_name update.title toolCall.title'],
  tool_kind: [text, 'update.kind toolCall.kind'],
  attachments: [anything, 'attachments'],
  interrupted: [flag, 'interrupted'],
  truncated: [flag, 'truncated'],
  user_modified: [flag, 'userModified'],
  /** Why the engine allowed or denied a call, what it proposes to allow, and all calls it denied. */
  permission: [anything, 'tool_result_meta decision_reason_type'],
  suggestions: [anything, 'permission_suggestions availableDecisions'],
  denials: [anything, 'permission_denials'],
  /** A sub-agent and its task. */
  subagent_type: [text, 'subagent_type agentType'],
  task: [text, 'task_description description'],
  task_type: [text, 'task_type'],
  prompt: [text, 'transformedContent task_started.prompt'],
  /** The engine's own words about a status. */
  note: [
    text,
    'permission_denied.message session.info.message task_notification.summary informational.content notification.text',
  ],
  note_type: [text, 'infoType'],
  /** A failed request to the model: kind, code, and when and why it is repeated. */
  error_kind: [text, 'failureKind error.type'],
  error_type: [text, 'errorType api_error_type error.name error'],
  error_code: [anything, 'errorCode error.code'],
  retryable: [flag, 'isRetryable'],
  retry_after_ms: [amount, 'retry_delay_ms delayMs retry-after'],
  retry_reason: [text, 'assistant.turn_retry.reason retry.reason'],
  endpoint: [text, 'apiEndpoint metadata.url'],
  transport: [text, 'transport'],
  response_body: [text, 'responseBody errorMessage'],
  response_headers: [anything, 'responseHeaders'],
  /** The size and the contents of the request, the tokens in the model's context, and its limits. */
  request: [anything, 'requestFingerprint'],
  request_bytes: [count, 'requestBodyBytes'],
  context_tokens: [count, 'update.used'],
  max_input_tokens: [count, 'maxPromptTokens modelContextWindow update.size'],
  max_output_tokens: [count, 'maxOutputTokens'],
} as const;

/** The engines' names for each field, and for the time of a record. */
export const ENGINE_NAMES_BY_FIELD: readonly (readonly [field: EngineFieldName, names: string])[] = [
  ['engine_at', 'timestamp emittedAtMs'],
  ...listKeys(FIELDS).map((field) => [field, FIELDS[field][1]] as const),
];

/** The name of a field, or of the engine's own time of a record. */
export type EngineFieldName = keyof EngineFieldSchemas | 'engine_at';

/** A mapped type, because declarations repeat the type of a constant wherever it is used, but name a mapped type. */
export type EngineFieldSchemas = { readonly [Field in keyof typeof FIELDS]: (typeof FIELDS)[Field][0] };

/** The schema of each field. */
export const ENGINE_FIELDS = Object.fromEntries(
  Object.entries(FIELDS).map(([field, [schema]]) => [field, schema]),
) as EngineFieldSchemas;

/** See {@link ENGINE_FIELDS}. */
export type EngineFields = {
  readonly [Field in keyof EngineFieldSchemas]?: FromSchema<EngineFieldSchemas[Field]>;
};

/** Adds the engine's fields to the data of an event. */
export function withEngineFields<
  R extends Readonly<Record<string, Schema>>,
  O extends Readonly<Record<string, Schema>>,
>(schema: ObjectSchema<R, O>): ObjectSchema<R, EngineFieldSchemas & O> {
  return { ...schema, properties: { ...ENGINE_FIELDS, ...schema.properties } };
}
