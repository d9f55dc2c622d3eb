import { cutText } from '../../base/index.js';
import { ENGINE_FIELDS, type EngineFields } from '../protocol/engine-fields.js';
import { isRecord } from '../reading/record-fields.js';
import { boundDetail } from './bound-detail.js';

/** An engine's fields, and its own time of the record. */
export interface EngineFacts {
  readonly at: string | null;
  /** Null if the record has none. */
  readonly fields: EngineFields | null;
}

type FieldName = keyof typeof ENGINE_FIELDS;

/**
 * The engines' names for each field. A name after a dot counts only in that object; the objects `data`, `part` and
 * `event` count as the record, which has the name of its type or subtype.
 */
const KEYS: Readonly<Record<FieldName | 'engine_at', string>> = {
  engine_at: 'timestamp emittedAtMs',
  started_at: 'time.start startedAtMs',
  ended_at: 'time.end completedAtMs patch.end_time',
  duration_ms:
    'duration_ms durationMs sessionDurationMs dispatchDurationMs totalDurationMs thinking_duration_ms assistant.usage.duration',
  duration_api_ms: 'duration_api_ms totalApiDurationMs',
  ttft_ms: 'ttft_ms',
  ttft_stream_ms: 'ttft_stream_ms first_content_frame_ms',
  time_to_request_ms: 'time_to_request_ms',
  turns: 'num_turns',
  queued_turns: 'queued_turn_count',
  safety_stops: 'safety_stops',
  stop_reason: 'stop_reason stopReason step_finish.reason',
  terminal_reason: 'terminal_reason',
  outcome: 'outcome model.call_final_result.result',
  state: 'status.status goal_state.activity session_state_changed.state task_notification.status patch.status',
  exit_code: 'result.exitCode',
  model: 'model newModel selectedModel resolvedModel model.modelID',
  provider: 'modelProvider model.providerID',
  provider_type: 'providerType',
  service_tier: 'service_tier',
  speed: 'usage.speed',
  engine_version: 'claude_code_version qwen_code_version copilotVersion cliVersion',
  workdir: 'cwd',
  permission_mode: 'permissionMode permission_mode approvalPolicy',
  api_key_source: 'apiKeySource',
  output_style: 'output_style',
  memory_paths: 'memory_paths',
  tools: 'init.tools',
  agents: 'init.agents',
  skills: 'skills',
  plugins: 'plugins',
  mcp_servers: 'mcp_servers servers',
  models: 'stats.models modelUsage',
  tool_stats: 'stats.tools toolStats toolTelemetry.metrics',
  generation: 'stats.generation',
  subagents: 'subagent_stats',
  tool_calls: 'tool_calls',
  tool_uses: 'tool_uses totalToolUseCount',
  total_tokens: 'tool_use_result.totalTokens task_progress.total_tokens',
  estimated_tokens: 'estimated_tokens',
  lines_added: 'linesAdded totalLinesAdded additions',
  lines_removed: 'linesRemoved totalLinesRemoved deletions',
  web_searches: 'web_search_requests',
  web_fetches: 'web_fetch_requests',
  premium_requests: 'premiumRequests',
  title: 'toolTitle state.title request.description display_name',
  attachments: 'attachments',
  interrupted: 'interrupted',
  truncated: 'truncated',
  user_modified: 'userModified',
  permission: 'tool_result_meta decision_reason_type',
  suggestions: 'permission_suggestions availableDecisions',
  denials: 'permission_denials',
  subagent_type: 'subagent_type agentType',
  task: 'task_description description',
  task_type: 'task_type',
  prompt: 'transformedContent task_started.prompt',
  note: 'permission_denied.message session.info.message task_notification.summary informational.content notification.text',
  note_type: 'infoType',
  error_kind: 'failureKind error.type',
  error_type: 'errorType api_error_type error.name error',
  error_code: 'errorCode error.code',
  retryable: 'isRetryable',
  retry_after_ms: 'retry_delay_ms delayMs retry-after',
  retry_reason: 'assistant.turn_retry.reason retry.reason',
  endpoint: 'apiEndpoint metadata.url',
  transport: 'transport',
  response_body: 'responseBody errorMessage',
  response_headers: 'responseHeaders',
  request: 'requestFingerprint',
  request_bytes: 'requestBodyBytes',
  max_input_tokens: 'maxPromptTokens modelContextWindow',
  max_output_tokens: 'maxOutputTokens',
};

/** The field for a key, by the name of the object that has it; '' for any object. */
const FIELDS_BY_KEY = new Map<string, Map<string, FieldName | 'engine_at'>>();
for (const [field, keys] of Object.entries(KEYS)) {
  for (const path of keys.split(' ')) {
    const dot = path.lastIndexOf('.');
    const key = path.slice(dot + 1);
    const fields = FIELDS_BY_KEY.get(key) ?? new Map<string, FieldName | 'engine_at'>();
    FIELDS_BY_KEY.set(key, fields.set(path.slice(0, Math.max(dot, 0)), field as FieldName));
  }
}

/** Values that tools and models wrote: they say nothing about the engine, even if they use its names. */
const CONTENT: ReadonlySet<string> = new Set([
  'arguments',
  'content',
  'input',
  'output',
  'parameters',
  'structuredContent',
  'structured_output',
  '_meta',
]);

const MAX_DEPTH = 5;

/** The maximum length of a string, and the maximum size of the files of a tool call. */
const MAX_TEXT = 4096;
const MAX_ATTACHMENTS = 64 * 1024;

/** Finds the named fields of a record. This is the only place that knows the engines' names for them. */
export function readEngineFields(record: object): EngineFacts {
  const found = collect(record, findType(record), 0, null);
  if (found === null) return NO_FACTS;
  const { engine_at: at = null, ...fields } = found;
  return { at: at as string | null, fields: Object.keys(fields).length === 0 ? null : fields };
}

/** Most records have no named field: they need no object. */
const NO_FACTS: EngineFacts = { at: null, fields: null };

/** Returns the subtype or type of a record, which its own fields are qualified with. */
function findType(record: object): string {
  const { type, subtype } = record as { readonly type?: unknown; readonly subtype?: unknown };
  return typeof subtype === 'string' && type === 'system' ? subtype : typeof type === 'string' ? type : '';
}

const WRAPPERS: ReadonlySet<string> = new Set(['data', 'part', 'event']);

function collect(object: object, parent: string, depth: number, facts: FoundFacts | null): FoundFacts | null {
  let found = facts;
  for (const key in object) {
    const value = (object as Readonly<Record<string, unknown>>)[key];
    const fields = depth === 0 && key === 'type' ? undefined : FIELDS_BY_KEY.get(key);
    // Also the fast path: most members are neither named nor objects.
    if (fields === undefined && typeof value !== 'object') continue;
    const field = fields?.get(parent) ?? fields?.get('');
    const named = field === undefined ? undefined : convert(field, value, key);
    if (field !== undefined && named !== undefined) (found ??= {})[field] ??= named;
    const isOpen = named === undefined || field === 'response_headers';
    if (isOpen && depth < MAX_DEPTH && isRecord(value) && !CONTENT.has(key))
      found = collect(value, WRAPPERS.has(key) ? parent : key, depth + 1, found);
  }
  return found;
}

/** The fields found so far. */
type FoundFacts = Record<string, unknown>;

/** Converts a value to a field's type; undefined if it has another type or no value. */
function convert(field: FieldName | 'engine_at', value: unknown, key: string): unknown {
  if (value === null || value === '') return undefined;
  const { type = null, pattern } = (field === 'engine_at' ? ENGINE_FIELDS.started_at : ENGINE_FIELDS[field]) as {
    readonly type?: string;
    readonly pattern?: string;
  };
  if (pattern !== undefined) return toTime(value);
  if (type === 'string') return typeof value === 'string' ? cutText(value, MAX_TEXT) : undefined;
  if (type === 'boolean') return typeof value === 'boolean' ? value : undefined;
  if (type !== null) return toNumber(value, key === 'retry-after' ? 1000 : 1, type);
  return boundDetail(toSnakeCase(value, 0), field === 'attachments' ? MAX_ATTACHMENTS : undefined);
}

function toNumber(value: unknown, factor: number, type: unknown): number | undefined {
  const number = (typeof value === 'string' && factor !== 1 ? Number(value) : value) as number;
  const isValid = type === 'number' ? Number.isFinite(number) : Number.isSafeInteger(number);
  return isValid && number >= 0 ? number * factor : undefined;
}

/** Converts a time, in ISO 8601 or in milliseconds since 1970, to the form that all events use. */
function toTime(value: unknown): string | undefined {
  const ms = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : NaN;
  return ms >= 0 && ms <= MAX_TIME ? new Date(ms).toISOString() : undefined;
}

/** The latest time with a four-digit year. */
const MAX_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Renames the members of objects, but not the keys of a table, such as names of models and tools. */
function toSnakeCase(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((member) => toSnakeCase(member, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      /^[a-z]+(?:[A-Z][a-z\d]*)+$/u.test(key) ? key.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`) : key,
      toSnakeCase(member, depth + 1),
    ]),
  );
}
