import type { Usage } from '../../protocol/event-parts.js';
import { get, toKnownFields, toNames, toUsage } from '../../reading/record-fields.js';
import { TextAnswer } from '../../reading/text-answer.js';
import type { TextFrame } from '../../framing/frame.js';
import { readJson } from '../../framing/segment-line.js';
import type { Engine, Reader } from '../engine.js';
import type { Emit } from '../fact.js';
import { KNOWN_FIELDS } from '../known-fields.js';

/** `data` has the fields of its type. */
const FIELDS = toKnownFields(KNOWN_FIELDS.copilot);

/** GitHub Copilot CLI: `copilot -p … --output-format json` prints one record per line on stdout, otherwise plain text. */
export const copilotEngine: Engine = {
  name: 'copilot',
  parser: 'copilot_ndjson',
  parserVersion: '1',
  framing: 'json',
  // Only the last record has the session.
  guarantees: { session: 'late', endSignal: true },
  fields: FIELDS,
  detect,
  detectText: (line) => (RESUME.test(line) ? 0.9 : 0),
  readSession: (value) => (get.string(value, 'type') === 'result' ? get.name(value, 'sessionId') : null),
  createReader: createCopilotReader,
};

/** In text mode, the last line of the log has the session. */
const RESUME = /^Resume {1,20}copilot --resume=([\w-]{8,64})$/u;

/** Confidence that plain lines are the answer, if the text mode summary was printed. */
const TEXT_CONFIDENCE = 0.6;

function detect(value: object): number {
  const type = get.string(value, 'type');
  if (type === 'result')
    return get.name(value, 'sessionId') !== null && get.integer(value, 'exitCode') !== null ? 1 : 0;
  if (type === null || !FIELDS.has(`${type}.data`)) return 0;
  return get.object(value, 'data') !== null && get.name(value, 'id') !== null ? 1 : 0;
}

/** Reads Copilot's output, as records or as plain text. */
function createCopilotReader(emit: Emit): Reader {
  let hasSummary = false;
  const answer = new TextAnswer(emit, () => (hasSummary ? TEXT_CONFIDENCE : null));

  function readLog({ text }: TextFrame): void {
    const session = RESUME.exec(text)?.[1];
    if (session === undefined) return emit({ fact: 'noise' });
    hasSummary = true;
    emit({ fact: 'confidence', value: TEXT_CONFIDENCE });
    emit({ fact: 'status', status: 'summary', session_id: session });
  }

  return {
    json(frame) {
      if (detect(frame.value) > 0) answer.reject(frame);
      else if (get.field(frame.value, 'type') === undefined && answer.hold(frame)) return;
      readRecord(frame.value, emit);
    },
    text(frame) {
      if (frame.stream !== 'stdout' && frame.problem === null) return readLog(frame);
      answer.read(frame, frame.encoding === 'binary' || frame.problem !== null);
    },
    blank: (frame) => answer.blank(frame),
    end: () => answer.end(),
  };
}

function readRecord(record: object, emit: Emit): void {
  const type = get.string(record, 'type');
  if (type === 'result') return readResult(record, emit);
  if (type === null || !FIELDS.has(`${type}.data`))
    return emit({ fact: 'unknown_type', type: type ?? 'record without a type' });
  const data = get.object(record, 'data');
  if (data === null) return emit({ fact: 'malformed', why: `A record of type "${type}" has no data.` });
  emit({ fact: 'record', record, shape: 'record', isWhole: true });
  emit({ fact: 'record', record: data, shape: `${type}.data` });
  if (type.startsWith('tool.execution_')) return readTool(type, data, emit);
  if (type.startsWith('assistant.')) return readAssistant(type, data, emit);
  readSession(type, data, emit);
}

/** Reads records of the session, the user and the model provider. */
function readSession(type: string, data: object, emit: Emit): void {
  switch (type) {
    case 'session.error': {
      const message = get.string(data, 'message') ?? 'The session failed.';
      emit({ fact: 'error', message, httpStatus: get.count(data, 'statusCode'), detail: data });
      return emit({ fact: 'failure', message });
    }
    case 'session.warning':
      return emit({ fact: 'error', message: get.string(data, 'message') ?? type, severity: 'warning', detail: data });
    case 'model.call_failure':
      return readCallFailure(data, emit);
    case 'session.start':
    case 'session.resume':
      emit({ fact: 'version', version: get.name(data, 'copilotVersion') });
      return emit({
        fact: 'status',
        status: type,
        session_id: get.name(data, 'sessionId'),
        model: get.name(data, 'selectedModel'),
        detail: data,
      });
    default:
      return reportStatus(type, data, emit);
  }
}

function reportStatus(type: string, data: object, emit: Emit): void {
  const message = type === 'user.message' ? get.string(data, 'content') : null;
  emit({
    fact: 'status',
    status: type,
    model: get.name(data, 'newModel') ?? get.name(data, 'model'),
    detail: data,
    isChunk: CHUNKS.has(type),
    ...(message === null ? undefined : { message }),
  });
}

/** Reads a failed request to the model. `session.error` reports whether the session failed. */
function readCallFailure(data: object, emit: Emit): void {
  const status = get.count(data, 'statusCode');
  const attempt = get.count(data, 'retryAttempt');
  emit({
    fact: 'error',
    message: readErrorMessage(get.string(data, 'errorMessage')),
    severity: 'warning',
    retrying: status === null || status === 429 || status >= 500,
    httpStatus: status,
    ...(attempt === null ? {} : { attempt }),
    detail: data,
  });
}

/** Returns the model provider's error message, which is often the first field of a possibly truncated JSON object. */
function readErrorMessage(text: string | null): string {
  if (text === null) return 'The request to the model failed.';
  const start = /^\{"message":"(?:[^"\\]|\\.){1,2000}"/u.exec(text)?.[0];
  const value = start === undefined ? null : readJson(`${start}}`);
  return get.string(value, 'message') ?? text;
}

function readAssistant(type: string, data: object, emit: Emit): void {
  const parent = get.name(data, 'parentToolCallId');
  const id = get.name(data, 'messageId') ?? get.name(data, 'reasoningId');
  switch (type) {
    case 'assistant.turn_start':
      emit({ fact: 'turn_started' });
      return emit({ fact: 'status', status: type, detail: data });
    case 'assistant.message_delta': {
      const text = get.string(data, 'deltaContent');
      if (text === null || id === null) return reportMalformed(type, emit);
      emit({ fact: 'record', record: data, used: TEXT_FIELDS, path: 'data' });
      return emit({ fact: 'delta', text, key: id, parent });
    }
    case 'assistant.message': {
      const text = get.string(data, 'content');
      if (text === null || id === null) return reportMalformed(type, emit);
      emit({ fact: 'step', model: get.name(data, 'model'), usage: null });
      // A message that only calls tools has no text; the calls follow as separate records.
      if (text === '') return emit({ fact: 'status', status: type, model: get.name(data, 'model'), detail: data });
      emit({ fact: 'record', record: data, used: TEXT_FIELDS, path: 'data' });
      return emit({ fact: 'message', text, key: id, parent });
    }
    case 'assistant.reasoning':
    case 'assistant.reasoning_delta': {
      const isPartial = type === 'assistant.reasoning_delta';
      const text = get.string(data, isPartial ? 'deltaContent' : 'content');
      if (text === null) return reportMalformed(type, emit);
      return emit({ fact: 'reasoning', text, id, partial: isPartial, parent });
    }
    case 'assistant.usage':
      emit({ fact: 'record', record: data, used: USAGE_FIELDS, path: 'data' });
      return emit({ fact: 'status', status: type, model: get.name(data, 'model'), usage: readUsage(data) });
    default:
      return reportStatus(type, data, emit);
  }
}

/** Records that say nothing beyond their time, or whose text another record repeats as a whole. */
const CHUNKS = toNames(
  'assistant.message_start assistant.tool_call_delta session.background_tasks_changed ' +
    'tool.execution_partial_result tool.shell_output',
);

const TEXT_FIELDS: ReadonlySet<string> = new Set(['messageId', 'content', 'deltaContent', 'parentToolCallId']);
const USAGE_FIELDS = toNames('model inputTokens outputTokens cacheReadTokens cacheWriteTokens');

function readUsage(data: object): Usage {
  return toUsage('turn', {
    input_tokens: get.count(data, 'inputTokens'),
    output_tokens: get.count(data, 'outputTokens'),
    cached_input_tokens: get.count(data, 'cacheReadTokens'),
    cache_write_tokens: get.count(data, 'cacheWriteTokens'),
  });
}

const TOOL_FIELDS = toNames('toolCallId toolName arguments success result error parentToolCallId');

const CONTENT: ReadonlySet<string> = new Set(['content']);
const MESSAGE: ReadonlySet<string> = new Set(['message']);

/** Tools that write the file they name. */
const WRITING_TOOLS: ReadonlySet<string> = new Set(['create', 'edit', 'str_replace_editor']);

function readTool(type: string, data: object, emit: Emit): void {
  const id = get.name(data, 'toolCallId');
  if (id === null) return reportMalformed(type, emit);
  if (type === 'tool.execution_partial_result')
    return emit({ fact: 'status', status: type, detail: data, isChunk: true });
  emit({ fact: 'record', record: data, used: TOOL_FIELDS, path: 'data' });
  const parent = get.name(data, 'parentToolCallId');
  if (type === 'tool.execution_start') {
    const name = get.name(data, 'toolName');
    const input = get.field(data, 'arguments');
    const path = name !== null && WRITING_TOOLS.has(name) ? get.name(get.object(data, 'arguments'), 'path') : null;
    return emit({ fact: 'tool_started', id, name, parent, input, paths: path === null ? [] : [path] });
  }
  const result = get.object(data, 'result');
  const failure = get.object(data, 'error');
  if (result !== null) emit({ fact: 'record', record: result, used: CONTENT, path: 'data.result' });
  if (failure !== null) emit({ fact: 'record', record: failure, used: MESSAGE, path: 'data.error' });
  const call = {
    id,
    parent,
    output: result === null ? get.field(data, 'result') : (get.field(result, 'content') ?? result),
    exitCode: get.integer(get.object(data, 'shellExecution'), 'exitCode'),
  };
  if (get.boolean(data, 'success') !== false) return emit({ fact: 'tool_completed', ...call });
  emit({ fact: 'tool_failed', ...call, error: get.string(failure, 'message') ?? 'The tool failed.' });
}

/** Reads the last record, which has the session and the exit code. */
function readResult(record: object, emit: Emit): void {
  const session = get.name(record, 'sessionId');
  const exitCode = get.integer(record, 'exitCode');
  if (session === null || exitCode === null) return reportMalformed('result', emit);
  emit({ fact: 'record', record, shape: 'result', isWhole: true });
  const requests = get.number(get.object(record, 'usage'), 'premiumRequests');
  emit({
    fact: 'status',
    status: 'result',
    session_id: session,
    ...(requests === null ? {} : { reason: `${requests} premium requests` }),
    detail: { exitCode, usage: get.object(record, 'usage') },
    isLast: true,
  });
  if (exitCode === 0) emit({ fact: 'end_signal', signal: 'COPILOT_RESULT_SUCCESS' });
}

function reportMalformed(type: string, emit: Emit): void {
  emit({ fact: 'malformed', why: `A record of type "${type}" lacks required fields.` });
}
