import {
  getName,
  getNumber,
  getString,
  getObject,
  getBoolean,
  getCount,
  getField,
  isRecord,
  toKnownFields,
} from '../../reading/record-fields.js';
import type { Engine, Reader } from '../engine.js';
import type { TextFrame } from '../../framing/frame.js';
import { TextAnswer } from '../../reading/text-answer.js';
import type { Emit } from '../fact.js';
import { KNOWN_FIELDS } from '../known-fields.js';
import { readReasoning, readStepFinish, readText, readTool, ERROR_NAMES } from './opencode-parts.js';

const FIELDS = toKnownFields(KNOWN_FIELDS.opencode);

/** OpenCode: `opencode run --format json` prints one record per line on stdout; without the option it prints plain text. */
export const opencodeEngine: Engine = {
  name: 'opencode',
  parser: 'opencode_ndjson',
  parserVersion: '3',
  framing: 'json',
  guarantees: { session: 'early', endSignal: true, usage: 'after step' },
  fields: FIELDS,
  detect,
  detectText: (line) => (TEXT_HEADER.test(line) ? 0.5 : 0),
  readSession: (value) => (detect(value) > 0 ? getName(value, 'sessionID') : null),
  createReader: createOpencodeReader,
};

function detect(value: object): number {
  const type = getString(value, 'type');
  if (type === null || getName(value, 'sessionID') === null || getNumber(value, 'timestamp') === null) return 0;
  return FIELDS.has(type) ? 1 : 0.5;
}

/** Confidence that plain lines on stdout are the answer, if the text mode header was printed. */
const TEXT_CONFIDENCE = 0.6;

/** Confidence that an error with an unknown name was read completely. */
const UNKNOWN_ERROR_CONFIDENCE = 0.5;

/** `> build · gpt-5`: agent and model, printed on stderr only in text mode. */
const TEXT_HEADER = /^> \S+ · \S/u;

const TEXT_ERROR = /^Error: /u;

/** A fragment of an incomplete record: never a plain text answer. */
const INCOMPLETE_RECORD = /"(?:sessionID|messageID|callID)":"|"timestamp":\d{13}/u;

/** Reads the output of `opencode run`, as records or as plain text. */
function createOpencodeReader(emit: Emit): Reader {
  let hasHeader = false;
  const answer = new TextAnswer(emit, () => (hasHeader ? TEXT_CONFIDENCE : null));

  return {
    json(frame) {
      const { value } = frame;
      if (isRecordLike(value)) {
        answer.reject(frame);
        return readRecord(value, emit);
      }
      if (frame.stream === 'stdout' && answer.isPossible) return answer.hold(frame);
      emit({ fact: 'unknown_type', type: getString(value, 'type') ?? 'value without a type' });
    },
    text(frame) {
      if (frame.stream !== 'stdout' && frame.problem === null) {
        hasHeader ||= TEXT_HEADER.test(frame.text);
        return TEXT_ERROR.test(frame.text) ? readTextError(frame, emit) : emit({ fact: 'noise' });
      }
      if (isTorn(frame)) answer.reject(frame);
      if (frame.stream === 'stdout' && answer.isPossible) answer.hold(frame);
      else emit({ fact: 'unparsed' });
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

function readRecord(record: object, emit: Emit): void {
  const type = getString(record, 'type') ?? '';
  if (!FIELDS.has(type)) return emit({ fact: 'unknown_type', type });
  emit({ fact: 'record', record, shape: type, isWhole: true });
  const sessionId = getName(record, 'sessionID');
  if (type === 'error') {
    emit({ fact: 'session', id: sessionId });
    return readError(record, emit);
  }
  const part = getObject(record, 'part');
  if (part === null) return emit({ fact: 'malformed', why: `A record of type "${type}" has no part.` });
  emit({ fact: 'record', record: part, shape: `${type}.part`, used: USED_FIELDS, path: 'part' });
  if (type === 'step_start') {
    emit({ fact: 'turn_started' });
    return emit({ fact: 'status', status: type, session_id: sessionId });
  }
  if (type === 'step_finish') return readStepFinish(part, sessionId, emit);
  emit({ fact: 'session', id: sessionId });
  if (type === 'text') return readText(part, emit);
  return type === 'reasoning' ? readReasoning(part, emit) : readTool(part, emit);
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

const USED_ERROR_FIELDS: ReadonlySet<string> = new Set([
  'name',
  'data',
  'message',
  'statusCode',
  'isRetryable',
  'responseBody',
]);

/** Reads an error in text mode, which prints it only after the last retry. */
function readTextError({ text }: TextFrame, emit: Emit): void {
  const message = text.slice('Error: '.length).trim();
  emit({ fact: 'error', message, isFatal: true });
}

/**
 * Reads a session error. OpenCode retries silently and prints an error only after the last retry, even if the error is
 * retryable (`isRetryable`). If it continues anyway, the next step clears the failure.
 */
function readError(record: object, emit: Emit): void {
  const error = getField(record, 'error');
  if (!isRecord(error)) {
    if (typeof error !== 'string') return emit({ fact: 'malformed', why: 'An error record has no error.' });
    emit({ fact: 'error', message: error });
    return emit({ fact: 'failure', message: error });
  }
  emit({ fact: 'record', record: error, shape: 'error.error' });
  const name = getName(error, 'name') ?? 'unnamed error';
  const data = getObject(error, 'data') ?? error;
  emit({ fact: 'record', record: data, used: USED_ERROR_FIELDS, path: 'error' });
  const message = getString(data, 'message') ?? name;
  emit({
    fact: 'error',
    message,
    ...(name === 'ProviderAuthError' ? { code: 'ENGINE_AUTH_HINT' as const } : undefined),
    httpStatus: getCount(data, 'statusCode'),
    detail: { name, is_retryable: getBoolean(data, 'isRetryable'), response_body: getField(data, 'responseBody') },
  });
  if (!ERROR_NAMES.has(name)) {
    emit({
      fact: 'warning',
      code: 'UNKNOWN_FIELD',
      message: `OpenCode reported the unknown error ${JSON.stringify(name)}; its message is unchanged.`,
      subject: name,
      confidence: UNKNOWN_ERROR_CONFIDENCE,
    });
  }
  emit({ fact: 'failure', message });
}
