import { get, toKnownFields } from '../../reading/record-fields.js';
import { createStreamJsonEngine } from '../stream-json/stream-json-reader.js';
import { readUsage } from '../stream-json/read-result.js';
import type { EngineError } from '../fact.js';
import { KNOWN_FIELDS } from '../known-fields.js';

const FIELDS = toKnownFields(KNOWN_FIELDS.messages, KNOWN_FIELDS.qwen);

/** Qwen Code: `qwen --output-format stream-json`, or one array with `json`. Records are on stdout, the log on stderr. */
export const qwenEngine = createStreamJsonEngine({
  name: 'qwen',
  parser: 'qwen_stream_json',
  parserVersion: '2',
  fields: FIELDS,
  documentParser: 'qwen_json',
  endSignal: 'QWEN_RESULT_SUCCESS',
  versionField: 'qwen_code_version',
  permissionField: 'permission_mode',
  fileTools: new Map([
    ['write_file', 'file_path'],
    ['edit', 'file_path'],
    ['notebook_edit', 'notebook_path'],
  ]),
  inputIncludesCache: true,
  scoreRecord,
  // The usage of the whole session, including earlier attempts and background work.
  readTotalUsage: (result) => readUsage(get.object(result, 'usage'), { scope: 'total', inputIncludesCache: true }),
  readSystemError,
  readErrorText,
  readLogError,
  readErrorDocument,
});

/** `[API Error: 429 …]`: the format of all Qwen Code model errors. Any 429 is followed by a line of advice. */
const API_ERROR = /^\[API Error: [^]*\](?:\n(?:Possible quota|Please wait) [^\n]*)?$/u;

/** `Retrying in 60s (attempt 1/10): [API Error: …]` */
const RETRY_LINE = /^Retrying in \S{1,16} \(attempt (\d{1,6})\/(\d{1,6})\)/u;

const HTTP_STATUS = /^\[API Error: ([45]\d\d)\b/u;

function scoreRecord(type: string, record: object): number {
  if (type === 'system') return 0.3;
  if (type === 'result') return get.number(record, 'total_cost_usd') === null ? 0.6 : 0.2;
  return get.string(get.object(record, 'event'), 'type') === 'goal_state' ? 1 : 0.4;
}

function readSystemError(subtype: string, record: object): EngineError | null {
  const data = get.object(record, 'data') ?? {};
  switch (subtype) {
    case 'retry': {
      const wait = get.number(data, 'delayMs');
      return {
        // Qwen Code does not print why: a rate limit, an overloaded model or a broken connection.
        message: `A request failed.${wait === null ? '' : ` Retrying in ${wait} ms.`}`,
        retrying: true,
        attempt: get.count(data, 'attempt'),
        maxAttempts: get.count(data, 'maxRetries'),
        detail: data,
      };
    }
    case 'model_fallback':
      return {
        message: 'The engine switched to another model.',
        retrying: true,
        httpStatus: get.count(data, 'statusCode'),
        detail: data,
      };
    case 'continue_turn_failed':
      return { message: get.string(data, 'message') ?? 'The turn could not be continued.', detail: data };
    default:
      return null;
  }
}

/** Qwen Code prints an error as the agent's message. A message written by the agent itself would have used tokens. */
function readErrorText(text: string, _record: object, usage: object | null): EngineError | null {
  if (!API_ERROR.test(text) || (get.count(usage, 'output_tokens') ?? 0) > 0) return null;
  return { message: text, httpStatus: findStatus(text) };
}

/** Reads an error in the log; in text mode, errors are printed only there. Other lines are noise. */
function readLogError(line: string): EngineError | null {
  const retry = RETRY_LINE.exec(line);
  if (retry !== null) {
    const httpStatus = findStatus(line.slice(line.indexOf('[')));
    return { message: line, retrying: true, attempt: Number(retry[1]), maxAttempts: Number(retry[2]), httpStatus };
  }
  return API_ERROR.test(line) ? { message: line, httpStatus: findStatus(line) } : null;
}

/** Reads `{ "error": { "type", "message", "code" } }` on stderr; with `json` it repeats the failure. */
function readErrorDocument(value: object): EngineError | null {
  const error = get.object(value, 'error');
  const message = get.string(error, 'message');
  if (error === null || message === null || Object.keys(value).length !== 1) return null;
  return get.name(error, 'type') === null ? null : { message, httpStatus: findStatus(message), detail: error };
}

function findStatus(message: string): number | null {
  const status = HTTP_STATUS.exec(message)?.[1];
  return status === undefined ? null : Number(status);
}
