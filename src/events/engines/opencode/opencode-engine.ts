import { get, isRecord, toKnownFields, toNames, toUsage } from '../../reading/record-fields.js';
import type { Engine, Reader } from '../engine.js';
import type { TextFrame } from '../../framing/frame.js';
import { TextAnswer } from '../../reading/text-answer.js';
import type { Emit, ToolEnd } from '../fact.js';
import { KNOWN_FIELDS } from '../known-fields.js';
import type { FileDiff, Usage } from '../../protocol/event-parts.js';
import { readPlan } from '../../reading/read-plan.js';

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
  readSession: (value) => (detect(value) > 0 ? get.name(value, 'sessionID') : null),
  createReader: createOpencodeReader,
};

function detect(value: object): number {
  const type = get.string(value, 'type');
  if (type === null || get.name(value, 'sessionID') === null || get.number(value, 'timestamp') === null) return 0;
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
      if (get.string(value, 'type') !== null && get.name(value, 'sessionID') !== null) {
        answer.reject(frame);
        return readRecord(value, emit);
      }
      if (!answer.hold(frame))
        emit({ fact: 'unknown_type', type: get.string(value, 'type') ?? 'value without a type' });
    },
    text(frame) {
      if (frame.stream !== 'stdout' && frame.problem === null) {
        hasHeader ||= TEXT_HEADER.test(frame.text);
        return TEXT_ERROR.test(frame.text) ? readTextError(frame, emit) : emit({ fact: 'noise' });
      }
      answer.read(frame, frame.encoding === 'binary' || INCOMPLETE_RECORD.test(frame.text));
    },
    blank: (frame) => answer.blank(frame),
    end: () => answer.end(),
  };
}

function readRecord(record: object, emit: Emit): void {
  const type = get.string(record, 'type') ?? '';
  if (!FIELDS.has(type)) return emit({ fact: 'unknown_type', type });
  emit({ fact: 'record', record, shape: type, isWhole: true });
  const sessionId = get.name(record, 'sessionID');
  if (type === 'error') {
    emit({ fact: 'session', id: sessionId });
    return readError(record, emit);
  }
  const part = get.object(record, 'part');
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
const USED_FIELDS = toNames('id sessionID messageID type text reason cost tokens callID tool state');

const USED_ERROR_FIELDS = toNames('name data message statusCode isRetryable responseBody');

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
  const error = get.field(record, 'error');
  if (!isRecord(error)) {
    if (typeof error !== 'string') return emit({ fact: 'malformed', why: 'An error record has no error.' });
    emit({ fact: 'error', message: error });
    return emit({ fact: 'failure', message: error });
  }
  emit({ fact: 'record', record: error, shape: 'error.error' });
  const name = get.name(error, 'name') ?? 'unnamed error';
  const data = get.object(error, 'data') ?? error;
  emit({ fact: 'record', record: data, used: USED_ERROR_FIELDS, path: 'error' });
  const message = get.string(data, 'message') ?? name;
  emit({
    fact: 'error',
    message,
    ...(name === 'ProviderAuthError' ? { code: 'ENGINE_AUTH_HINT' as const } : undefined),
    httpStatus: get.count(data, 'statusCode'),
    detail: { name, is_retryable: get.boolean(data, 'isRetryable'), response_body: get.field(data, 'responseBody') },
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

/** Tools that write the file they name. */
const WRITING_TOOLS: ReadonlySet<string> = new Set(['write', 'edit', 'multiedit', 'patch']);

/** Step end reasons that also end the run, as a failure. */
const FAILED_REASONS: Readonly<Record<string, string>> = {
  length: 'The model reached its output limit.',
  'content-filter': 'The content filter stopped the model.',
  error: 'The model ended with an error.',
};

/** Reads the end of a step: `stop` ends the invocation, `tool-calls` continues with the next step. */
function readStepFinish(part: object, sessionId: string | null, emit: Emit): void {
  const reason = get.name(part, 'reason');
  const usage = readTokens(part, emit);
  // The status is an event too, so the last message or call must have its usage before.
  if (usage !== null) emit({ fact: 'step_ended', usage });
  emit({ fact: 'status', status: 'step_finish', session_id: sessionId, reason, usage });
  if (reason === 'stop') return emit({ fact: 'end_signal', signal: 'OPENCODE_STEP_FINISH_STOP' });
  const failure = reason !== null && Object.hasOwn(FAILED_REASONS, reason) ? FAILED_REASONS[reason] : undefined;
  if (failure === undefined) return;
  emit({ fact: 'error', message: failure, isFatal: true });
}

/** Reads a complete text part. It is a delta first, because the final message waits for the end of the step. */
function readText(part: object, emit: Emit): void {
  const text = get.string(part, 'text');
  if (text === null) return emit({ fact: 'malformed', why: 'A text part has no text.' });
  // Inserted by OpenCode itself, so it is not the agent's message.
  const isInserted = get.boolean(part, 'synthetic') === true || get.boolean(part, 'ignored') === true;
  if (isInserted) emit({ fact: 'noise' });
  else {
    emit({ fact: 'delta', text });
    emit({ fact: 'message', text });
  }
}

function readReasoning(part: object, emit: Emit): void {
  const text = get.string(part, 'text');
  if (text === null) return emit({ fact: 'malformed', why: 'A reasoning part has no text.' });
  const id = get.name(part, 'id');
  emit({ fact: 'reasoning', text, id });
}

/** Reads a tool call, which is printed once, when it has ended; its start is derived from the same record. */
function readTool(part: object, emit: Emit): void {
  const id = get.name(part, 'callID');
  const name = get.name(part, 'tool');
  const state = get.object(part, 'state');
  if (id === null || name === null || state === null)
    return emit({ fact: 'malformed', why: 'A tool part has no callID, tool or state.' });
  emit({ fact: 'record', record: state, shape: 'tool_use.part.state', used: USED_STATE_FIELDS, path: 'part.state' });
  const path = WRITING_TOOLS.has(name) ? get.name(get.object(state, 'input'), 'filePath') : null;
  const call: ToolEnd = {
    id,
    name,
    input: get.field(state, 'input'),
    output: get.field(state, 'output'),
    exitCode: get.integer(get.object(state, 'metadata'), 'exit'),
    paths: path === null ? [] : [path],
    diff: readDiff(get.object(state, 'metadata'), path),
    startDerived: true,
  };
  if (name === 'todowrite')
    emit({ fact: 'plan', entries: readPlan(get.array(get.object(state, 'input'), 'todos')), call: id });
  switch (get.string(state, 'status') ?? '') {
    case 'completed':
      return emit({ fact: 'tool_completed', ...call });
    case 'error':
      return emit({
        fact: 'tool_failed',
        ...call,
        error: get.string(state, 'error') ?? 'The tool failed without a reason.',
      });
    case 'pending':
      // A call is announced before its input is known; the start with the input follows as `running`.
      if (Object.keys(get.object(state, 'input') ?? {}).length === 0)
        return emit({ fact: 'status', status: 'tool_use', reason: 'pending', detail: { callID: id, tool: name } });
      return emit({ fact: 'tool_started', ...call });
    case 'running':
      return emit({ fact: 'tool_started', ...call });
    default:
      return emit({ fact: 'malformed', why: 'A tool part has an unknown status.' });
  }
}

/** Reads the patch of a file that OpenCode wrote; the file is named in another field. */
function readDiff(metadata: object | null, path: string | null): readonly FileDiff[] {
  const fileDiff = get.object(metadata, 'filediff');
  const patch = get.name(metadata, 'diff') ?? get.name(fileDiff, 'patch');
  const file = get.name(fileDiff, 'file') ?? path;
  if (file === null || patch === null || patch.length > MAX_PATCH) return [];
  return [{ path: file, patch }];
}

/** Longer patches are omitted; the change can be read from the file itself. */
const MAX_PATCH = 64 * 1024;

const USED_STATE_FIELDS: ReadonlySet<string> = new Set(['status', 'input', 'output', 'error']);

function readTokens(part: object, emit: Emit): Usage | null {
  const tokens = get.object(part, 'tokens');
  if (tokens === null) return null;
  emit({ fact: 'record', record: tokens, shape: 'step_finish.part.tokens' });
  const cache = get.object(tokens, 'cache');
  const cached = get.count(cache, 'read') ?? 0;
  const cacheWrite = get.count(cache, 'write') ?? 0;
  return toUsage('turn', {
    input_tokens: (get.count(tokens, 'input') ?? 0) + cached + cacheWrite,
    output_tokens: get.count(tokens, 'output'),
    cached_input_tokens: cached,
    cache_write_tokens: cacheWrite,
    reasoning_tokens: get.count(tokens, 'reasoning') ?? 0,
    total_tokens: get.count(tokens, 'total'),
    cost: get.number(part, 'cost'),
  });
}

const ERROR_NAMES = toNames(
  'ProviderAuthError UnknownError MessageOutputLengthError MessageAbortedError StructuredOutputError ' +
    'ContextOverflowError ContentFilterError APIError',
);
