import type { Usage } from '../../protocol/event-parts.js';
import {
  getBoolean,
  getCount,
  getField,
  getInteger,
  getName,
  getNumber,
  getObject,
  omitMissing,
  getString,
} from '../../reading/record-fields.js';
import { TextAnswer } from '../../reading/text-answer.js';
import type { TextFrame } from '../../framing/frame.js';
import { readJson } from '../../framing/segment-line.js';
import type { Engine, Reader } from '../engine.js';
import type { Report } from '../report.js';
import { DATA_FIELDS, RECORD_FIELDS, RESULT_FIELDS } from './records.js';

/** GitHub Copilot CLI: `copilot -p … --output-format json` prints one record per line on stdout, otherwise plain text. */
export const copilotEngine: Engine = {
  name: 'copilot',
  parser: 'copilot_ndjson',
  parserVersion: '1',
  framing: 'json',
  // Only the last record has the session.
  guarantees: { session: 'late', endSignal: true },
  detect,
  detectText: (line) => (RESUME.test(line) ? 0.9 : 0),
  readSession: (value) => (getString(value, 'type') === 'result' ? getName(value, 'sessionId') : null),
  createReader: createCopilotReader,
};

/** In text mode, the last line of the log has the session. */
const RESUME = /^Resume {1,20}copilot --resume=([\w-]{8,64})$/u;

/** Confidence that plain lines are the answer, if the text mode summary was printed. */
const TEXT_CONFIDENCE = 0.6;

function detect(value: object): number {
  const type = getString(value, 'type');
  if (type === 'result') return getName(value, 'sessionId') !== null && getInteger(value, 'exitCode') !== null ? 1 : 0;
  if (type === null || DATA_FIELDS[type] === undefined) return 0;
  return getObject(value, 'data') !== null && getName(value, 'id') !== null ? 1 : 0;
}

/** Reads Copilot's output, as records or as plain text. */
function createCopilotReader(report: Report): Reader {
  let hasSummary = false;
  const answer = new TextAnswer(report, () => (hasSummary ? TEXT_CONFIDENCE : null));

  function readLog({ text }: TextFrame): void {
    const session = RESUME.exec(text)?.[1];
    if (session === undefined) return report.noise();
    hasSummary = true;
    report.confidence(TEXT_CONFIDENCE);
    report.status({ status: 'summary', session_id: session });
  }

  return {
    json(frame) {
      if (detect(frame.value) > 0) answer.reject(frame);
      else if (frame.stream === 'stdout' && answer.isPossible && getField(frame.value, 'type') === undefined)
        return answer.hold(frame);
      readRecord(frame.value, report);
    },
    text(frame) {
      if (frame.stream !== 'stdout' && frame.problem === null) return readLog(frame);
      if (frame.encoding === 'binary' || frame.problem !== null) answer.reject(frame);
      if (frame.stream === 'stdout' && answer.isPossible) answer.hold(frame);
      else report.unparsed();
    },
    blank: (frame) => answer.blank(frame),
    end: () => answer.end(),
  };
}

function readRecord(record: object, report: Report): void {
  const type = getString(record, 'type');
  if (type === 'result') return readResult(record, report);
  const knownFields = type === null ? undefined : DATA_FIELDS[type];
  if (type === null || knownFields === undefined) return report.unknownType(type ?? 'record without a type');
  const data = getObject(record, 'data');
  if (data === null) return report.unparsed('MALFORMED_RECORD', `A record of type "${type}" has no data.`);
  report.checkFields(record, RECORD_FIELDS, type);
  report.keepUnusedFields(record, RECORD_FIELDS);
  report.checkFields(data, knownFields, `${type}.data`);
  if (type.startsWith('tool.execution_')) return readTool(type, data, report);
  if (type.startsWith('assistant.')) return readAssistant(type, data, report);
  readSession(type, data, report);
}

/** Reads records of the session, the user and the model provider. */
function readSession(type: string, data: object, report: Report): void {
  switch (type) {
    case 'session.error': {
      const message = getString(data, 'message') ?? 'The session failed.';
      report.engineError({ message, httpStatus: getCount(data, 'statusCode'), detail: data });
      return report.runtimeError(message);
    }
    case 'session.warning':
      return report.engineError({ message: getString(data, 'message') ?? type, severity: 'warning', detail: data });
    case 'model.call_failure':
      return readCallFailure(data, report);
    case 'session.start':
    case 'session.resume':
      report.engineVersion(getName(data, 'copilotVersion'));
      return report.status({
        status: type,
        session_id: getName(data, 'sessionId'),
        model: getName(data, 'selectedModel'),
        detail: data,
      });
    default:
      return report.status({
        status: type,
        model: getName(data, 'newModel') ?? getName(data, 'model'),
        detail: data,
      });
  }
}

/**
 * Reads a failed request to the model. Copilot retries temporary failures; `session.error` reports whether the session
 * failed.
 */
function readCallFailure(data: object, report: Report): void {
  const status = getCount(data, 'statusCode');
  const attempt = getCount(data, 'retryAttempt');
  report.engineError({
    message: readErrorMessage(getString(data, 'errorMessage')),
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
  return (value === null ? null : getString(value, 'message')) ?? text;
}

/** Reads records of the agent: messages and tool calls. */
function readAssistant(type: string, data: object, report: Report): void {
  const parent = getName(data, 'parentToolCallId');
  const id = getName(data, 'messageId') ?? getName(data, 'reasoningId');
  switch (type) {
    case 'assistant.turn_start':
      report.turnStarted();
      return report.status({ status: type, detail: data });
    case 'assistant.message_delta': {
      const text = getString(data, 'deltaContent');
      if (text === null || id === null) return reportMalformed(type, report);
      report.keepUnusedFields(data, TEXT_FIELDS, 'data');
      return report.messageDelta(text, { key: id, parent });
    }
    case 'assistant.message': {
      const text = getString(data, 'content');
      if (text === null || id === null) return reportMalformed(type, report);
      report.step({ model: getName(data, 'model'), usage: null });
      // A message that only calls tools has no text; the calls follow as separate records.
      if (text === '') return report.status({ status: type, model: getName(data, 'model'), detail: data });
      report.keepUnusedFields(data, TEXT_FIELDS, 'data');
      return report.message(text, { key: id, parent });
    }
    case 'assistant.reasoning':
    case 'assistant.reasoning_delta': {
      const isPartial = type === 'assistant.reasoning_delta';
      const text = getString(data, isPartial ? 'deltaContent' : 'content');
      if (text === null) return reportMalformed(type, report);
      return report.reasoning(text, { ...(id === null ? {} : { id }), partial: isPartial, parent });
    }
    case 'assistant.usage':
      report.keepUnusedFields(data, USAGE_FIELDS, 'data');
      return report.status({ status: type, model: getName(data, 'model'), usage: readUsage(data) });
    default:
      return report.status({ status: type, model: getName(data, 'model'), detail: data });
  }
}

const TEXT_FIELDS: ReadonlySet<string> = new Set(['messageId', 'content', 'deltaContent', 'parentToolCallId']);
const USAGE_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'inputTokens',
  'outputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
]);

function readUsage(data: object): Usage {
  return {
    scope: 'turn',
    input_tokens: getCount(data, 'inputTokens') ?? 0,
    output_tokens: getCount(data, 'outputTokens') ?? 0,
    ...omitMissing({
      cached_input_tokens: getCount(data, 'cacheReadTokens'),
      cache_write_tokens: getCount(data, 'cacheWriteTokens'),
    }),
  };
}

const TOOL_FIELDS: ReadonlySet<string> = new Set([
  'toolCallId',
  'toolName',
  'arguments',
  'success',
  'result',
  'error',
  'parentToolCallId',
]);

const CONTENT: ReadonlySet<string> = new Set(['content']);
const MESSAGE: ReadonlySet<string> = new Set(['message']);

/** Tools that write the file they name. */
const WRITING_TOOLS: ReadonlySet<string> = new Set(['create', 'edit', 'str_replace_editor']);

function readTool(type: string, data: object, report: Report): void {
  const id = getName(data, 'toolCallId');
  if (id === null) return reportMalformed(type, report);
  if (type === 'tool.execution_partial_result') return report.status({ status: type, detail: data });
  report.keepUnusedFields(data, TOOL_FIELDS, 'data');
  const parent = getName(data, 'parentToolCallId');
  if (type === 'tool.execution_start') {
    const name = getName(data, 'toolName');
    const input = getField(data, 'arguments');
    const path = name !== null && WRITING_TOOLS.has(name) ? getName(getObject(data, 'arguments') ?? {}, 'path') : null;
    return report.toolStarted({ id, name, parent, input, paths: path === null ? [] : [path] });
  }
  const result = getObject(data, 'result');
  const failure = getObject(data, 'error');
  if (result !== null) report.keepUnusedFields(result, CONTENT, 'data.result');
  if (failure !== null) report.keepUnusedFields(failure, MESSAGE, 'data.error');
  const call = {
    id,
    parent,
    output: result === null ? getField(data, 'result') : (getField(result, 'content') ?? result),
    exitCode: getInteger(getObject(data, 'shellExecution') ?? {}, 'exitCode'),
  };
  if (getBoolean(data, 'success') !== false) return report.toolCompleted(call);
  report.toolFailed({ ...call, error: getString(failure ?? {}, 'message') ?? 'The tool failed.' });
}

/** Reads the last record, which has the session and the exit code. */
function readResult(record: object, report: Report): void {
  const session = getName(record, 'sessionId');
  const exitCode = getInteger(record, 'exitCode');
  if (session === null || exitCode === null) return reportMalformed('result', report);
  report.checkFields(record, RESULT_FIELDS, 'result');
  const requests = getNumber(getObject(record, 'usage') ?? {}, 'premiumRequests');
  report.status({
    status: 'result',
    session_id: session,
    ...(requests === null ? {} : { reason: `${requests} premium requests` }),
    detail: { exitCode, usage: getObject(record, 'usage') },
  });
  if (exitCode === 0) report.endSignal('COPILOT_RESULT_SUCCESS');
}

function reportMalformed(type: string, report: Report): void {
  report.unparsed('MALFORMED_RECORD', `A record of type "${type}" lacks required fields.`);
}
