import {
  getName,
  getNumber,
  getString,
  getObject,
  getBoolean,
  getCount,
  getField,
  isRecord,
} from '../../reading/record-fields.js';
import type { Engine, Reader } from '../engine.js';
import type { TextFrame } from '../../framing/frame.js';
import { TextAnswer } from '../../reading/text-answer.js';
import type { Report } from '../report.js';
import {
  RECORD_FIELDS,
  readReasoning,
  readStepFinish,
  readText,
  readTool,
  PART_FIELDS,
  ERROR_FIELDS,
  ERROR_NAMES,
} from './opencode-parts.js';

/** OpenCode: `opencode run --format json` prints one record per line on stdout; without the option it prints plain text. */
export const opencodeEngine: Engine = {
  name: 'opencode',
  parser: 'opencode_ndjson',
  parserVersion: '3',
  framing: 'json',
  guarantees: { session: 'early', endSignal: true, usage: 'after step' },
  detect,
  detectText: (line) => (TEXT_HEADER.test(line) ? 0.5 : 0),
  readSession: (value) => (detect(value) > 0 ? getName(value, 'sessionID') : null),
  createReader: createOpencodeReader,
};

function detect(value: object): number {
  const type = getString(value, 'type');
  if (type === null || getName(value, 'sessionID') === null || getNumber(value, 'timestamp') === null) return 0;
  return RECORD_FIELDS[type] === undefined ? 0.5 : 1;
}

/** Confidence that plain lines on stdout are the answer, if the text mode header was printed. */
const TEXT_CONFIDENCE = 0.6;

/** `> build · gpt-5`: agent and model, printed on stderr only in text mode. */
const TEXT_HEADER = /^> \S+ · \S/u;

const TEXT_ERROR = /^Error: /u;

/** A fragment of an incomplete record: never a plain text answer. */
const INCOMPLETE_RECORD = /"(?:sessionID|messageID|callID)":"|"timestamp":\d{13}/u;

/** Reads the output of `opencode run`, as records or as plain text. */
function createOpencodeReader(report: Report): Reader {
  let hasHeader = false;
  const answer = new TextAnswer(report, () => (hasHeader ? TEXT_CONFIDENCE : null));

  return {
    json(frame) {
      const { value } = frame;
      if (isRecordLike(value)) {
        answer.reject(frame);
        return readRecord(value, report);
      }
      if (frame.stream === 'stdout' && answer.isPossible) return answer.hold(frame);
      report.unknownType(getString(value, 'type') ?? 'value without a type');
    },
    text(frame) {
      if (frame.stream !== 'stdout' && frame.problem === null) {
        hasHeader ||= TEXT_HEADER.test(frame.text);
        return TEXT_ERROR.test(frame.text) ? readTextError(frame, report) : report.noise();
      }
      if (isTorn(frame)) answer.reject(frame);
      if (frame.stream === 'stdout' && answer.isPossible) answer.hold(frame);
      else report.unparsed();
    },
    blank: (frame) => answer.blank(frame),
    end: () => answer.end(),
  };
}

function isRecordLike(value: object): boolean {
  return getString(value, 'type') !== null && getName(value, 'sessionID') !== null;
}

function isTorn({ text, encoding }: TextFrame): boolean {
  return encoding === 'binary' || INCOMPLETE_RECORD.test(text);
}

function readRecord(record: object, report: Report): void {
  const type = getString(record, 'type') ?? '';
  const knownFields = RECORD_FIELDS[type];
  if (knownFields === undefined) return report.unknownType(type);
  report.checkFields(record, knownFields, type);
  report.keepUnusedFields(record, knownFields);
  const sessionId = getName(record, 'sessionID');
  if (type === 'error') {
    report.session(sessionId);
    return readError(record, report);
  }
  const part = getObject(record, 'part');
  if (part === null) return report.unparsed('MALFORMED_RECORD', `A record of type "${type}" has no part.`);
  report.checkFields(part, PART_FIELDS[type] ?? NO_FIELDS, `${type}.part`);
  report.keepUnusedFields(part, USED_FIELDS, 'part');
  if (type === 'step_start') {
    report.turnStarted();
    return report.status({ status: type, session_id: sessionId });
  }
  if (type === 'step_finish') return readStepFinish(part, sessionId, report);
  report.session(sessionId);
  if (type === 'text') return readText(part, report);
  return type === 'reasoning' ? readReasoning(part, report) : readTool(part, report);
}

/** Fields of a part that are already in events, and ids that are not needed. */
const USED_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'sessionID',
  'messageID',
  'type',
  'text',
  'reason',
  'cost',
  'tokens',
  'callID',
  'tool',
  'state',
]);

const NO_FIELDS: ReadonlySet<string> = new Set();

const USED_ERROR_FIELDS: ReadonlySet<string> = new Set([
  'name',
  'data',
  'message',
  'statusCode',
  'isRetryable',
  'responseBody',
]);

/** Reads an error in text mode, which prints it only after the last retry. */
function readTextError({ text }: TextFrame, report: Report): void {
  const message = text.slice('Error: '.length).trim();
  report.engineError({ message });
  report.runtimeError(message);
}

/**
 * Reads a session error. OpenCode retries silently and prints an error only after the last retry, even if the error is
 * retryable (`isRetryable`). If it continues anyway, the next step clears the failure.
 */
function readError(record: object, report: Report): void {
  const error = getField(record, 'error');
  if (!isRecord(error)) {
    if (typeof error !== 'string') return report.unparsed('MALFORMED_RECORD', 'An error record has no error.');
    report.engineError({ message: error });
    return report.runtimeError(error);
  }
  report.checkFields(error, ERROR_FIELDS, 'error.error');
  const name = getName(error, 'name') ?? 'unnamed error';
  const data = getObject(error, 'data') ?? error;
  report.keepUnusedFields(data, USED_ERROR_FIELDS, 'error');
  const message = getString(data, 'message') ?? name;
  report.engineError({
    message,
    ...(name === 'ProviderAuthError' ? { code: 'ENGINE_AUTH_HINT' as const } : undefined),
    httpStatus: getCount(data, 'statusCode'),
    detail: { name, is_retryable: getBoolean(data, 'isRetryable'), response_body: getField(data, 'responseBody') },
  });
  if (!ERROR_NAMES.has(name)) {
    report.warning(
      'UNKNOWN_FIELD',
      `OpenCode reported the unknown error ${JSON.stringify(name)}; its message is unchanged.`,
      {
        subject: name,
      },
    );
  }
  report.runtimeError(message);
}
