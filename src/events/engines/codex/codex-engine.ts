import { get, toUsage } from '../../reading/record-fields.js';
import type { Engine, Reader } from '../engine.js';
import type { Usage } from '../../protocol/event-parts.js';
import { TextAnswer } from '../../reading/text-answer.js';
import type { Emit } from '../fact.js';
import { AppServerReader, detectAppServer, readAppServerSession } from './app-server.js';
import { CODEX_FIELDS, readItem } from './codex-items.js';

/**
 * OpenAI Codex: `codex exec --json` prints one record per line on stdout; without `--json` it prints the answer as plain text.
 * `codex app-server` is two-way: JSON-RPC in both directions.
 */
export const codexEngine: Engine = {
  name: 'codex',
  parser: 'codex_ndjson',
  parserVersion: '2',
  framing: 'json',
  guarantees: { session: 'early', endSignal: true },
  fields: CODEX_FIELDS,
  readsInput: true,
  detect: (value) => Math.max(detect(value), detectAppServer(value)),
  detectText: (line) => (/^OpenAI Codex v\d/u.test(line) ? 1 : 0),
  readSession: (value) =>
    get.string(value, 'type') === 'thread.started' ? get.name(value, 'thread_id') : readAppServerSession(value),
  createReader: createCodexReader,
};

function detect(value: object): number {
  const type = get.string(value, 'type');
  if (type === null || !CODEX_FIELDS.has(type)) return 0;
  if (type === 'thread.started') return get.name(value, 'thread_id') === null ? 0 : 1;
  if (type.startsWith('item.')) {
    const itemType = get.string(get.object(value, 'item'), 'type');
    return itemType !== null && CODEX_FIELDS.has(`item(${itemType})`) ? 1 : 0.5;
  }
  // Other CLIs print `error` records too, but with more fields.
  if (type === 'error') return Object.keys(value).length === 2 && get.string(value, 'message') !== null ? 0.3 : 0;
  return 0.8;
}

/** Confidence that plain lines on stdout are the answer, if the text mode header was printed. */
const TEXT_CONFIDENCE = 0.6;

/** A fragment of an incomplete record: never a plain text answer. */
const INCOMPLETE_RECORD = /"type":"(?:thread|turn|item)\./u;

/** Reads the output of `codex exec`, as records (`--json`) or as plain text. */
function createCodexReader(emit: Emit): Reader {
  /** Whether the text mode header was printed; stdout is then the plain text answer. */
  let hasHeader = false;
  let hasSession = false;
  const answer = new TextAnswer(emit, () => (hasHeader ? TEXT_CONFIDENCE : null));
  const server = new AppServerReader(emit);
  let isAppServer = false;

  /** Reads a line of stderr: without `--json` a header, then a log of the run, including a copy of the answer. */
  function readLog(text: string): void {
    const version = HEADER.exec(text)?.[1];
    if (version !== undefined) {
      hasHeader = true;
      emit({ fact: 'parser', name: 'generic_text' });
      emit({ fact: 'version', version });
      return emit({ fact: 'status', status: 'header' });
    }
    // The log also contains output of the agent and its tools, so these lines count only after the header, and the
    // session only once.
    const session = hasHeader && !hasSession ? SESSION.exec(text)?.[1] : undefined;
    const error = hasHeader ? ERROR.exec(text)?.[1] : undefined;
    const isDenied = DENIED.test(text);
    if (session === undefined && error === undefined && !isDenied) return emit({ fact: 'noise' });
    emit({ fact: 'confidence', value: CONFIDENCE });
    hasSession ||= session !== undefined;
    if (session !== undefined) emit({ fact: 'status', status: 'session', session_id: session });
    else if (isDenied) emit({ fact: 'error', message: text, severity: 'warning', code: 'TOOL_CALL_DENIED' });
    else readErrorMessage(error ?? text, emit);
  }

  return {
    json(frame) {
      // A recording without input is recognized by the server's messages.
      if (!isAppServer && (frame.stream === 'stdin' || detectAppServer(frame.value) >= 0.5)) {
        isAppServer = true;
        emit({ fact: 'parser', name: 'codex_app_server' });
      }
      if (isAppServer && frame.stream !== 'stderr') {
        answer.reject(frame);
        return server.read(frame)
          ? undefined
          : emit({ fact: 'unknown_type', type: get.string(frame.value, 'type') ?? 'value that is not a message' });
      }
      const type = get.string(frame.value, 'type');
      if (type !== null && CODEX_FIELDS.has(type)) answer.reject(frame);
      else if (type === null && answer.hold(frame)) return;
      // In text mode, the log repeats the output of the agent and its tools.
      else if (frame.stream === 'stderr' && hasHeader) return emit({ fact: 'noise' });
      readRecord(frame.value, emit);
    },
    text(frame) {
      if (frame.stream === 'stdin') return emit({ fact: 'unparsed' });
      if (frame.stream !== 'stdout' && frame.problem === null) return readLog(frame.text);
      answer.read(frame, frame.encoding === 'binary' || INCOMPLETE_RECORD.test(frame.text));
    },
    blank: (frame) => answer.blank(frame),
    end: () => answer.end(),
  };
}

function readRecord(record: object, emit: Emit): void {
  const type = get.string(record, 'type');
  if (type === null || !CODEX_FIELDS.has(type))
    return emit({ fact: 'unknown_type', type: type ?? 'record without a type' });
  // Not whole: no record of `codex exec` has a field that all engines report, and looking for them costs a tenth.
  emit({ fact: 'record', record, shape: type });
  switch (type) {
    case 'thread.started':
      return emit({ fact: 'status', status: type, session_id: get.name(record, 'thread_id') });
    case 'turn.started':
      emit({ fact: 'turn_started' });
      return emit({ fact: 'status', status: type });
    case 'turn.completed':
      emit({ fact: 'status', status: type, usage: readUsage(record, emit) });
      return emit({ fact: 'end_signal', signal: 'CODEX_TURN_COMPLETED' });
    case 'turn.failed': {
      const error = get.object(record, 'error') ?? {};
      emit({ fact: 'record', record: error, used: ERROR_FIELDS, path: 'error' });
      const message = get.string(error, 'message') ?? 'The turn failed.';
      return emit({ fact: 'error', message, isFatal: true });
    }
    case 'error': {
      const message = get.string(record, 'message');
      if (message === null) return emit({ fact: 'malformed', why: 'An error record has no message.' });
      return readErrorMessage(message, emit);
    }
    default:
      return readItem(type.slice('item.'.length), record, emit);
  }
}

const ERROR_FIELDS: ReadonlySet<string> = new Set(['message']);

function readUsage(record: object, emit: Emit): Usage | null {
  const usage = get.object(record, 'usage');
  if (usage === null) return null;
  emit({ fact: 'record', record: usage, shape: 'turn.completed.usage' });
  return toUsage('total', {
    input_tokens: get.count(usage, 'input_tokens'),
    output_tokens: get.count(usage, 'output_tokens'),
    cached_input_tokens: get.count(usage, 'cached_input_tokens'),
    cache_write_tokens: get.count(usage, 'cache_write_input_tokens'),
    reasoning_tokens: get.count(usage, 'reasoning_output_tokens'),
  });
}

const HEADER = /^OpenAI Codex v(\S{1,40})/u;
const SESSION = /^session id: ([0-9a-f-]{8,64})$/u;
/** A command that was rejected because no one was there to approve it. */
const DENIED = /\bapproval policy is \w+; reject command\b/u;
const ERROR = /^ERROR: (.+)$/u;

const CONFIDENCE = 0.7;

/** `Reconnecting... 2/5 (…)`: the only sign of a retry in Codex's output. */
const RETRY = /^Reconnecting\.\.\.(?: (\d{1,6})\/(\d{1,6}))?/u;

/** Reports an error that Codex printed. The error alone does not end the run: either Codex recovers, or its turn fails. */
function readErrorMessage(message: string, emit: Emit): void {
  const retry = RETRY.exec(message);
  if (retry === null) return emit({ fact: 'error', message });
  const [, attempt, maxAttempts] = retry;
  emit({
    fact: 'error',
    message,
    retrying: true,
    attempt: attempt === undefined ? null : Number(attempt),
    maxAttempts: maxAttempts === undefined ? null : Number(maxAttempts),
  });
}
