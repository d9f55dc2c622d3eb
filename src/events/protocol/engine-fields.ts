import { anything, count, flag, name, text, timestamp } from '../../base/index.js';
import type { FromSchema, ObjectSchema, Schema } from '../../base/index.js';

/** A number that is not negative, such as a duration in milliseconds. */
const amount = { type: 'number', minimum: 0 } as const;

/**
 * What an engine reports about an event beyond its text: times, durations, limits and reasons, under the same name for
 * every engine. A field is absent if the engine did not report it. Lists and objects have the engine's own members, in
 * snake_case, at most 4 KiB of them.
 */
export const ENGINE_FIELDS = {
  /** When a message or a tool call started and ended, by the engine's clock. */
  started_at: timestamp,
  ended_at: timestamp,
  duration_ms: amount,
  /** The part of `duration_ms` that was spent in requests to the model. */
  duration_api_ms: amount,
  /** From the start until the first token, the first event of the stream, and the request. */
  ttft_ms: amount,
  ttft_stream_ms: amount,
  time_to_request_ms: amount,
  turns: count,
  queued_turns: count,
  safety_stops: count,
  /** Why the model stopped, and why the engine did. */
  stop_reason: text,
  terminal_reason: text,
  outcome: text,
  state: text,
  exit_code: { type: ['integer', 'null'] },
  model: name,
  provider: text,
  provider_type: text,
  service_tier: text,
  speed: text,
  /** The engine and its surroundings. */
  engine_version: text,
  workdir: text,
  permission_mode: text,
  api_key_source: text,
  output_style: text,
  memory_paths: anything,
  tools: anything,
  agents: anything,
  skills: anything,
  plugins: anything,
  mcp_servers: anything,
  /** Totals: tokens and requests of each model, calls of each tool, times of generation, sub-agents, and lines of files. */
  models: anything,
  tool_stats: anything,
  generation: anything,
  subagents: anything,
  tool_calls: count,
  tool_uses: count,
  total_tokens: count,
  estimated_tokens: count,
  lines_added: count,
  lines_removed: count,
  web_searches: count,
  web_fetches: count,
  premium_requests: amount,
  /** A tool call: its title, its images and other files, and whether it was interrupted, shortened or changed by the user. */
  title: text,
  attachments: anything,
  interrupted: flag,
  truncated: flag,
  user_modified: flag,
  /** Why the engine allowed or denied a call, what it proposes to allow, and all calls it denied. */
  permission: anything,
  suggestions: anything,
  denials: anything,
  /** A sub-agent and its task. */
  subagent_type: text,
  task: text,
  task_type: text,
  prompt: text,
  /** The engine's own words about a status. */
  note: text,
  note_type: text,
  /** A failed request to the model: kind, code, and when and why it is repeated. */
  error_kind: text,
  error_type: text,
  error_code: anything,
  retryable: flag,
  retry_after_ms: amount,
  retry_reason: text,
  endpoint: text,
  transport: text,
  response_body: text,
  response_headers: anything,
  /** The size and the contents of the request, and the model's limits. */
  request: anything,
  request_bytes: count,
  max_input_tokens: count,
  max_output_tokens: count,
} as const;

/** A mapped type, because declarations repeat the type of a constant wherever it is used, but name a mapped type. */
export type EngineFieldSchemas = { readonly [Field in keyof typeof ENGINE_FIELDS]: (typeof ENGINE_FIELDS)[Field] };

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
