import { get, isRecord, toKnownFields, toUsage } from '../../reading/record-fields.js';
import { createStreamJsonEngine } from '../stream-json/stream-json-reader.js';
import type { EngineError } from '../fact.js';
import type { Usage } from '../../protocol/event-parts.js';
import { readUsage } from '../stream-json/read-result.js';
import { KNOWN_FIELDS } from '../known-fields.js';

const FIELDS = toKnownFields(KNOWN_FIELDS.messages, KNOWN_FIELDS.claude);

/** Claude Code: `claude -p --output-format stream-json --verbose`, or one document with `json`, on stdout. */
export const claudeEngine = createStreamJsonEngine({
  name: 'claude',
  parser: 'claude_stream_json',
  parserVersion: '2',
  fields: FIELDS,
  documentParser: 'claude_json',
  endSignal: 'CLAUDE_RESULT_SUCCESS',
  versionField: 'claude_code_version',
  permissionField: 'permissionMode',
  fileTools: new Map([
    ['Write', 'file_path'],
    ['Edit', 'file_path'],
    ['MultiEdit', 'file_path'],
    ['NotebookEdit', 'notebook_path'],
  ]),
  inputIncludesCache: false,
  scoreRecord,
  readTotalUsage,
  readSystemError,
  readErrorText,
  readLogError,
  readErrorDocument: () => null,
});

/** `API Error: 400 …` */
const API_ERROR = /^API Error: (?:([45]\d\d)\b)?/u;

function scoreRecord(type: string, record: object): number {
  if (type === 'result' && get.number(record, 'total_cost_usd') !== null) return 0.9;
  return type === 'result' || type === 'system' ? 0.4 : 0.5;
}

function readSystemError(subtype: string, record: object): EngineError | null {
  switch (subtype) {
    case 'api_retry': {
      const wait = get.number(record, 'retry_delay_ms');
      const httpStatus = get.count(record, 'error_status');
      return {
        message: `${describeFailedRequest(record, httpStatus)}${wait === null ? '' : ` Retrying in ${wait} ms.`}`,
        retrying: true,
        httpStatus,
        attempt: get.count(record, 'attempt'),
        maxAttempts: get.count(record, 'max_retries'),
      };
    }
    case 'mirror_error':
      return { message: get.string(record, 'error') ?? subtype, severity: 'warning' };
    case 'model_refusal_no_fallback':
      return { message: get.string(record, 'content') ?? subtype };
    case 'model_refusal_fallback':
      return { message: get.string(record, 'content') ?? subtype, retrying: true };
    default:
      return null;
  }
}

/** Describes a failed request. If Claude Code got no response, it prints neither a status nor a known error. */
function describeFailedRequest(record: object, httpStatus: number | null): string {
  const error = get.name(record, 'error') ?? 'unknown';
  if (error !== 'unknown') return `The request to the model failed: ${error.replaceAll('_', ' ')}.`;
  if (httpStatus !== null) return `The request to the model failed with HTTP status ${httpStatus}.`;
  return 'The model could not be reached.';
}

/** Claude Code reports an error as a message of a model called `<synthetic>`. */
function readErrorText(text: string, record: object): EngineError | null {
  const error = get.string(record, 'error');
  if (error === null && get.boolean(record, 'is_api_error_message') !== true) return null;
  if (get.string(get.object(record, 'message'), 'model') !== '<synthetic>') return null;
  return {
    message: text,
    httpStatus: get.count(record, 'api_error_status'),
    detail: { error, api_error_type: get.field(record, 'api_error_type') ?? null },
  };
}

/** In text mode, Claude Code prints an error in place of its answer. */
function readLogError(text: string): EngineError | null {
  const error = API_ERROR.exec(text);
  if (error === null) return null;
  const status = error[1];
  return { message: text, httpStatus: status === undefined ? null : Number(status) };
}

/**
 * Returns the tokens and the cost of the session so far. A result's `usage` covers this invocation only, `modelUsage`
 * and `total_cost_usd` the whole session, including earlier attempts.
 */
function readTotalUsage(result: object): Usage | null {
  const cost = get.number(result, 'total_cost_usd');
  const models: readonly [string, unknown][] = Object.entries(get.object(result, 'modelUsage') ?? {});
  if (models.length === 0)
    return readUsage(get.object(result, 'usage'), { scope: 'total', inputIncludesCache: false, cost });
  const counts = models.map(([, model]) => model).filter(isRecord);
  const sum = (key: string): number => counts.reduce((total, model) => total + (get.count(model, key) ?? 0), 0);
  const cached = sum('cacheReadInputTokens');
  const cacheWrite = sum('cacheCreationInputTokens');
  return toUsage('total', {
    input_tokens: sum('inputTokens') + cached + cacheWrite,
    output_tokens: sum('outputTokens'),
    cached_input_tokens: cached,
    cache_write_tokens: cacheWrite,
    reasoning_tokens: sum('thinkingTokens'),
    cost,
    model: models.length === 1 ? models[0]?.[0] : null,
  });
}
