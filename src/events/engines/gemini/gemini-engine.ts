import { get, isRecord, toKnownFields, toUsage } from '../../reading/record-fields.js';
import type { Engine, Reader } from '../engine.js';
import type { JsonFrame } from '../../framing/frame.js';
import type { ParserName } from '../../protocol/engine-names.js';
import { MAX_MESSAGE_LENGTH, TextAnswer } from '../../reading/text-answer.js';
import type { Emit } from '../fact.js';
import { isGeminiLogLine, GeminiLog } from './gemini-log.js';
import type { Usage } from '../../protocol/event-parts.js';
import { readPlan } from '../../reading/read-plan.js';
import { KNOWN_FIELDS } from '../known-fields.js';

/** The records of `stream-json`, and the document of `json`. */
const GEMINI_FIELDS = toKnownFields(KNOWN_FIELDS.gemini);

/** Google's Gemini CLI: one document, one record per line, or plain text, on any stream. */
export const geminiEngine: Engine = {
  name: 'gemini',
  parser: 'gemini_json',
  parserVersion: '2',
  framing: 'json',
  guarantees: { session: 'early', endSignal: true },
  fields: GEMINI_FIELDS,
  detect,
  detectText: (line) => (isGeminiLogLine(line) ? 0.6 : 0),
  readSession,
  createReader: createGeminiReader,
};

/** The fields that a record of Gemini has, and how certain they are: other CLIs also print records with a type and a time. */
const RECORD_CHECKS: ReadonlyMap<string, readonly [field: string, score: number]> = new Map([
  ['init', ['session_id', 1]],
  ['tool_use', ['tool_id', 1]],
  ['tool_result', ['tool_id', 1]],
  ['result', ['status', 0.9]],
  ['message', ['role', 0.7]],
  ['error', ['severity', 0.7]],
]);

function detectRecord(record: object): number {
  const type = get.string(record, 'type') ?? '';
  const [field = '', score = 0] = RECORD_CHECKS.get(type) ?? [];
  const isComplete = get.name(record, field) !== null && (type !== 'init' || get.name(record, 'model') !== null);
  return isComplete ? score : 0;
}

function detect(value: object): number {
  if (isStreamRecord(value)) return detectRecord(value);
  if (!isDocument(value)) return 0;
  // The log quotes API errors, which look like a document without a session.
  if (get.name(value, 'session_id') === null) return get.object(value, 'stats') === null ? 0 : 0.7;
  return get.object(get.object(value, 'stats'), 'models') === null ? 0.7 : 1;
}

function readSession(value: object): string | null {
  const hasSession =
    isDocument(value) || (get.string(value, 'type') === 'init' && get.field(value, 'model') !== undefined);
  return hasSession ? get.name(value, 'session_id') : null;
}

/** Confidence that plain lines on stdout are the answer: with and without log lines of Gemini. */
const TEXT_CONFIDENCE = 0.6;
const GUESS_CONFIDENCE = 0.4;

/** A fragment of an incomplete record or document: never a plain text answer. */
const INCOMPLETE_RECORD =
  /"(?:timestamp|role|session_id|tool_id|tool_name|severity)":"|^ {2}"(?:session_id|response|stats)": /u;

/** Reads Gemini's output in any of its formats; the format is detected. */
function createGeminiReader(emit: Emit): Reader {
  const log = new GeminiLog(emit);
  const stream = new GeminiStream(emit);
  const answer = new TextAnswer(emit, (first) => {
    if (log.isGemini) return TEXT_CONFIDENCE;
    return first.kind === 'text' ? GUESS_CONFIDENCE : null;
  });
  let parser: ParserName = 'gemini_json';
  let hasDrifted = false;

  function setParser(name: ParserName, frame: JsonFrame): void {
    answer.reject(frame);
    log.endDump(frame.stream);
    if (name === parser) return;
    parser = name;
    emit({ fact: 'parser', name });
  }

  function warnAboutStream(frame: JsonFrame): void {
    if (hasDrifted || frame.stream !== 'stderr') return;
    hasDrifted = true;
    emit({
      fact: 'warning',
      code: 'STREAM_DRIFT_OBSERVED',
      message: 'Gemini printed its records on stderr instead of stdout.',
      // Its records are unmistakable on any stream.
      confidence: 0.9,
    });
  }

  return {
    json(frame) {
      const { value } = frame;
      if (isStreamRecord(value)) {
        setParser('gemini_stream_json', frame);
        stream.read(frame);
        return warnAboutStream(frame);
      }
      // In an error dump, the server's response can look like anything.
      if (log.isDumping(frame.stream) && !isNamedDocument(value)) return emit({ fact: 'noise' });
      if (isApiError(value)) return emit({ fact: 'error', message: frame.text.trim() });
      if (isDocument(value)) {
        setParser('gemini_json', frame);
        // Some versions of Gemini print it on stdout, some on stderr.
        return readDocument(value, emit);
      }
      if (!answer.hold(frame))
        emit({ fact: 'unknown_type', type: get.string(value, 'type') ?? 'value without a type' });
    },
    text(frame) {
      // In text mode, lines after the first line of the answer belong to it, even if they look like a failure.
      if (log.read(frame, frame.stream === 'stdout' && answer.hasLines)) return;
      if (frame.stream !== 'stdout' && frame.problem === null) return emit({ fact: 'noise' });
      answer.read(frame, frame.encoding === 'binary' || INCOMPLETE_RECORD.test(frame.text));
    },
    blank: (frame) => answer.blank(frame),
    end() {
      answer.end();
      stream.closeMessage();
    },
  };
}

/** Whether a value is the response of Google's API to a failed request: `{"error": {"code": 429, …}}`, or a list of it. */
function isApiError(value: object): boolean {
  if (Array.isArray(value)) return value.length === 1 && isRecord(value[0]) && isApiError(value[0]);
  const error = Object.keys(value).length === 1 ? get.object(value, 'error') : null;
  if (error === null || get.string(error, 'message') === null) return false;
  const code = get.field(error, 'code');
  return typeof code === 'number' && code >= 400 && code < 600;
}

function isNamedDocument(value: object): boolean {
  return isDocument(value) && get.string(value, 'session_id') !== null;
}

/** Tools that write the file they name. */
const WRITING_TOOLS: ReadonlySet<string> = new Set(['write_file', 'replace', 'edit']);

const ERROR_MESSAGE: ReadonlySet<string> = new Set(['message']);

/** Whether a value is a record of `stream-json`, of a known type or not. */
function isStreamRecord(value: object): boolean {
  return get.string(value, 'type') !== null && /^\d{4}-\d\d-\d\dT/u.test(get.string(value, 'timestamp') ?? '');
}

/** Reads the records of `--output-format stream-json`. */
class GeminiStream {
  readonly #emit: Emit;
  /** The first and last frame of the open message: Gemini does not mark the end of a message. */
  #first: JsonFrame | null = null;
  #last: JsonFrame | null = null;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  read(frame: JsonFrame): void {
    const record = frame.value;
    const type = get.string(record, 'type') ?? '';
    if (!GEMINI_FIELDS.has(type)) return this.#emit({ fact: 'unknown_type', type });
    this.#emit({ fact: 'record', record, shape: type, isWhole: true });
    switch (type) {
      case 'init':
        return this.#emit({
          fact: 'status',
          status: type,
          session_id: get.name(record, 'session_id'),
          model: get.name(record, 'model'),
        });
      case 'message':
        return this.#readMessage(record, frame);
      case 'tool_use':
        return this.#readToolUse(record, frame);
      case 'tool_result':
        return this.#readToolResult(record);
      case 'error':
        return this.#readError(record);
      default:
        return this.#readResult(record, frame);
    }
  }

  /** Ends the open message, made up of the text and bytes of its deltas. */
  closeMessage(): void {
    if (this.#first === null || this.#last === null) return;
    const isOneStream = this.#first.stream === this.#last.stream;
    this.#emit({ fact: 'frames', first: isOneStream ? this.#first : this.#last, last: this.#last });
    this.#emit({ fact: 'message_end' });
    this.#first = null;
    this.#last = null;
  }

  #closeBefore(frame: JsonFrame): void {
    this.closeMessage();
    this.#emit({ fact: 'frames', first: frame, last: frame });
  }

  #readMessage(record: object, frame: JsonFrame): void {
    const role = get.string(record, 'role');
    const text = get.string(record, 'content');
    if (text === null) return this.#emit({ fact: 'malformed', why: 'A message has no content.' });
    // The prompt can contain the done marker, but is not a message from the agent.
    if (role === 'user')
      return this.#emit({ fact: 'status', status: 'message user', detail: { content: text }, message: text });
    if (role !== 'assistant') return this.#emit({ fact: 'unknown_type', type: `message ${role ?? 'without a role'}` });
    if (get.boolean(record, 'delta') === true) {
      const isTooLong = this.#first !== null && frame.to - this.#first.from > MAX_MESSAGE_LENGTH;
      if (isTooLong) this.#closeBefore(frame);
      this.#first ??= frame;
      this.#last = frame;
      return this.#emit({ fact: 'delta', text });
    }
    this.#closeBefore(frame);
    this.#emit({ fact: 'message', text });
  }

  #readToolUse(record: object, frame: JsonFrame): void {
    const id = get.name(record, 'tool_id');
    const name = get.name(record, 'tool_name');
    if (id === null || name === null)
      return this.#emit({ fact: 'malformed', why: 'A tool_use has no tool_id or no tool_name.' });
    this.#closeBefore(frame);
    const input = get.field(record, 'parameters');
    const path = WRITING_TOOLS.has(name) ? get.name(get.object(record, 'parameters'), 'file_path') : null;
    this.#emit({ fact: 'tool_started', id, name, input, paths: path === null ? [] : [path] });
    if (name === 'write_todos')
      this.#emit({ fact: 'plan', entries: readPlan(get.array(get.object(record, 'parameters'), 'todos')), call: id });
  }

  #readToolResult(record: object): void {
    const id = get.name(record, 'tool_id');
    const status = get.string(record, 'status');
    if (id === null || (status !== 'success' && status !== 'error'))
      return this.#emit({ fact: 'malformed', why: 'A tool_result has no tool_id or an unknown status.' });
    const output = get.field(record, 'output');
    if (status === 'success') return this.#emit({ fact: 'tool_completed', id, output });
    const failure = get.object(record, 'error') ?? {};
    this.#emit({ fact: 'record', record: failure, used: ERROR_MESSAGE, path: 'error' });
    const error = get.string(failure, 'message') ?? get.string(record, 'output');
    this.#emit({ fact: 'tool_failed', id, output, error: error ?? 'The tool failed without a reason.' });
  }

  /** Reads an error, which alone does not end the run: `result` or the exit code shows whether the run failed. */
  #readError(record: object): void {
    const message = get.string(record, 'message');
    if (message === null) return this.#emit({ fact: 'malformed', why: 'An error has no message.' });
    const severity = get.string(record, 'severity') === 'warning' ? 'warning' : 'error';
    this.#emit({ fact: 'error', message, severity });
  }

  #readResult(record: object, frame: JsonFrame): void {
    const status = get.string(record, 'status');
    if (status !== 'success' && status !== 'error')
      return this.#emit({ fact: 'malformed', why: 'A result has an unknown status.' });
    this.#closeBefore(frame);
    const stats = get.object(record, 'stats');
    const statsFields = stats === null ? undefined : { usage: readStats(stats, this.#emit), detail: { stats } };
    this.#emit({ fact: 'status', status: 'result', reason: status, ...statsFields, isLast: true });
    if (status === 'success') return this.#emit({ fact: 'end_signal', signal: 'GEMINI_STREAM_RESULT_SUCCESS' });
    readFatalError(get.object(record, 'error') ?? {}, this.#emit);
  }
}

/** Reads the token counts of this invocation, not of the session: a resumed session starts at zero. */
function readStats(stats: object, emit: Emit): Usage {
  emit({ fact: 'record', record: stats, shape: 'result.stats' });
  const [model, another] = Object.keys(get.object(stats, 'models') ?? {});
  return toUsage('turn', {
    input_tokens: get.count(stats, 'input_tokens'),
    output_tokens: get.count(stats, 'output_tokens'),
    cached_input_tokens: get.count(stats, 'cached'),
    total_tokens: get.count(stats, 'total_tokens'),
    model: another === undefined ? model : null,
  });
}

/** Whether a value is the single document that `--output-format json` prints: an answer, or an error. */
function isDocument(value: object): boolean {
  if (get.field(value, 'type') !== undefined) return false;
  if (get.name(value, 'session_id') !== null) {
    return DOCUMENT_KEYS.some((key) => get.field(value, key) !== undefined);
  }
  if (get.string(value, 'response') !== null) return get.object(value, 'stats') !== null;
  const error = get.object(value, 'error');
  return error !== null && get.name(error, 'type') !== null && get.string(error, 'message') !== null;
}

const DOCUMENT_KEYS = ['response', 'error', 'stats'];

/** Reads the document. An error in it means that the run failed, even if it contains a response. */
function readDocument(document: object, emit: Emit): void {
  const response = get.string(document, 'response');
  const error = get.object(document, 'error');
  emit({ fact: 'record', record: document, shape: '(document)', isWhole: true });
  const stats = get.object(document, 'stats');
  const usage = stats === null ? null : readDocumentStats(stats, emit);
  emit({
    fact: 'status',
    status: error === null ? 'response' : 'error',
    session_id: get.name(document, 'session_id'),
    model: usage?.model ?? null,
    usage,
    ...(stats === null ? undefined : { detail: { stats } }),
    isLast: true,
  });
  for (const warning of get.array(document, 'warnings')) {
    emit({ fact: 'error', message: toText(warning), severity: 'warning' });
  }
  if (response !== null && response !== '') emit({ fact: 'message', text: response });
  else if (response === null && error === null) {
    emit({ fact: 'warning', code: 'MALFORMED_RECORD', message: 'The document has neither a response nor an error.' });
  }
  if (error === null) emit({ fact: 'end_signal', signal: 'GEMINI_RESPONSE_OBJECT_FINISHED' });
  else readFatalError(error, emit);
}

/** Reads an error that ended the run. Its code is an HTTP status or, for Gemini's own errors, an exit code. */
function readFatalError(error: object, emit: Emit): void {
  emit({ fact: 'record', record: error, shape: 'result.error' });
  const message = get.string(error, 'message') ?? 'Gemini reported an error without a message.';
  const code = get.count(error, 'code');
  const httpStatus = code !== null && code >= 400 && code <= 599 ? code : null;
  emit({
    fact: 'error',
    isFatal: true,
    message,
    httpStatus,
    detail: { type: get.field(error, 'type'), code: get.field(error, 'code') },
  });
}

/** Adds up the tokens of all models of this invocation. */
function readDocumentStats(stats: object, emit: Emit): Usage | null {
  emit({ fact: 'record', record: stats, shape: '(document).stats' });
  const models = Object.entries(get.object(stats, 'models') ?? {});
  const sum = { input: 0, output: 0, cached: 0, thoughts: 0, total: 0 };
  for (const [, model] of models) {
    if (!isRecord(model)) continue;
    emit({ fact: 'record', record: model, shape: '(document).stats.models.*' });
    const tokens = get.object(model, 'tokens') ?? {};
    emit({ fact: 'record', record: tokens, shape: '(document).stats.models.*.tokens' });
    sum.input += get.count(tokens, 'prompt') ?? get.count(tokens, 'input') ?? 0;
    sum.output += get.count(tokens, 'candidates') ?? 0;
    sum.cached += get.count(tokens, 'cached') ?? 0;
    sum.thoughts += get.count(tokens, 'thoughts') ?? 0;
    sum.total += get.count(tokens, 'total') ?? 0;
  }
  const [only] = models;
  if (only === undefined) return null;
  return toUsage('turn', {
    input_tokens: sum.input,
    output_tokens: sum.output,
    cached_input_tokens: sum.cached,
    reasoning_tokens: sum.thoughts,
    total_tokens: sum.total,
    model: models.length === 1 ? only[0] : null,
  });
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
