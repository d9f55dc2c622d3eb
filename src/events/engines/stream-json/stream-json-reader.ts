import type { JsonFrame, TextFrame } from '../../framing/frame.js';
import { get, isRecord, omitMissing, toKnownFields, toNames } from '../../reading/record-fields.js';
import { TextAnswer } from '../../reading/text-answer.js';
import type { Engine, Reader } from '../engine.js';
import type { EngineError, Emit } from '../fact.js';
import { ControlRecords } from './control.js';
import { Conversation, type Dialect } from './conversation.js';
import { readAssistant, readUser } from './read-message.js';
import { readResult } from './read-result.js';

/** Confidence that plain lines on stdout are the answer. */
const TEXT_CONFIDENCE = 0.4;

/** A field of every record: text that contains it is an incomplete record. */
const INCOMPLETE_RECORD = /"(?:session_id|uuid)"\s*:/u;

/** Creates the engine of a CLI that prints records as Claude Code does. */
export function createStreamJsonEngine(dialect: Dialect): Engine {
  const { name, parser, parserVersion, fields } = dialect;
  return {
    name,
    parser,
    parserVersion,
    framing: 'json',
    guarantees: { session: 'early', endSignal: true },
    fields,
    readsInput: true,
    detect: (value) => Math.max(detect(value, dialect), dialect.readErrorDocument(value) === null ? 0 : 0.2),
    readSession,
    createReader: (emit) => createStreamJsonReader(dialect, emit),
  };
}

/** Reads the output of Claude Code and similar CLIs: one record per line, a single document, or plain text. */
function createStreamJsonReader(dialect: Dialect, emit: Emit): Reader {
  const conversation = new Conversation(dialect, emit);
  const control = new ControlRecords(emit);
  const answer = new TextAnswer(emit, ({ kind }) => (kind === 'text' ? TEXT_CONFIDENCE : null));
  let hasRecords = false;
  let hasText = false;

  /** Handles the first record. With `json` the output is one document: a single result, or all records in an array. */
  function startRecords(frame: JsonFrame, isDocument: boolean): void {
    if (hasRecords) return;
    hasRecords = true;
    answer.reject(frame);
    if (isDocument) emit({ fact: 'parser', name: dialect.documentParser });
  }

  function readRecord(record: object): void {
    const type = get.string(record, 'type');
    if (type === 'system') return readSystem(record, conversation);
    if (type === null || !dialect.fields.has(type))
      return emit({ fact: 'unknown_type', type: type ?? 'record without a type' });
    const used = USED_FIELDS.get(type);
    // The fields of a result belong to the end, not to the answer in it.
    const isWhole = type !== 'result';
    emit({ fact: 'record', record, shape: type, isWhole, ...(used === undefined ? undefined : { used }) });
    readKnown(type, record, conversation);
  }

  return {
    json(frame) {
      const { value } = frame;
      if (frame.stream === 'stdin') return control.readSent(value);
      // After lines of plain text, an error document is part of the answer.
      const error = hasText && answer.isPossible ? null : dialect.readErrorDocument(value);
      if (error !== null) return reportFatalError(error, conversation);
      if (Array.isArray(value) && value.some((one) => isKnownRecord(dialect, one, hasRecords))) {
        startRecords(frame, true);
        for (const record of value) {
          if (isRecord(record)) readRecord(record);
          else emit({ fact: 'malformed', why: 'The array contains something other than records.' });
        }
      } else if (isKnownRecord(dialect, value, hasRecords)) {
        startRecords(frame, get.string(value, 'type') === 'result');
        if (frame.stream !== 'stdout' || !control.readPrinted(value)) readRecord(value);
      } else if (!answer.hold(frame))
        emit({ fact: 'unknown_type', type: get.string(value, 'type') ?? 'record without a type' });
    },
    text(frame) {
      if (frame.stream === 'stdin') return emit({ fact: 'unparsed' });
      if (frame.stream === 'stderr' || (frame.stream === 'pty' && !INCOMPLETE_RECORD.test(frame.text)))
        return readLog(frame, conversation);
      if (frame.problem !== null || INCOMPLETE_RECORD.test(frame.text)) answer.reject(frame);
      if (frame.stream !== 'stdout' || !answer.isPossible) return emit({ fact: 'unparsed' });
      // In text mode, the CLI prints an error in place of its answer.
      const error = hasText ? null : dialect.readLogError(frame.text);
      hasText = error === null;
      if (error === null) {
        answer.hold(frame);
        return;
      }
      emit({ fact: 'confidence', value: TEXT_CONFIDENCE });
      if (error.retrying === true) emit({ fact: 'error', ...error });
      else reportFatalError(error, conversation);
    },
    blank: (frame) => answer.blank(frame),
    end() {
      conversation.endTurn();
      answer.end();
    },
  };
}

/** Whether a value is a record of the CLI: it has a type and a session, or its type once others had a session. */
function isKnownRecord({ fields }: Dialect, value: unknown, hasRecords: boolean): value is object {
  if (!isRecord(value)) return false;
  const type = get.string(value, 'type');
  if (type === null) return false;
  if (get.name(value, 'session_id') !== null || type.startsWith('control_')) return true;
  return hasRecords && (type === 'system' || fields.has(type));
}

function readKnown(type: string, record: object, conversation: Conversation): void {
  const { emit } = conversation;
  // A hook can have a temporary session id; the agent's own records have the right one.
  const isMain = get.name(record, 'parent_tool_use_id') === null;
  switch (type) {
    case 'assistant':
    case 'user':
    case 'stream_event':
      if (isMain) emit({ fact: 'session', id: get.name(record, 'session_id') });
      if (type === 'assistant') return readAssistant(record, conversation);
      if (type === 'user') return readUser(record, conversation);
      return readStreamEvent(record, conversation);
    case 'result':
      return readResult(record, conversation);
    case 'rate_limit_event':
      return readRateLimit(record, conversation);
    default:
      return emit({ fact: 'status', status: type, detail: readDetail(record) });
  }
}

/** Reads a rate limit state. Any state but `allowed` is reported as a warning. */
function readRateLimit(record: object, { emit }: Conversation): void {
  const detail = readDetail(record);
  const state = get.string(get.object(record, 'rate_limit_info'), 'status') ?? 'unknown';
  if (state === 'allowed') return emit({ fact: 'status', status: 'rate_limit_event', reason: state, detail });
  const code = 'ENGINE_RATE_LIMIT_HINT';
  emit({
    fact: 'error',
    message: `The engine reported the rate limit status "${state}".`,
    retrying: true,
    code,
    detail,
  });
}

/** Reports an error that ended the CLI, such as the document it prints if it cannot start. */
function reportFatalError(error: EngineError, conversation: Conversation): void {
  const { emit } = conversation;
  if (!conversation.reportFailure(error)) emit({ fact: 'status', status: 'error', detail: error.detail });
  emit({ fact: 'failure', message: error.message });
}

function readLog(frame: TextFrame, { emit, dialect }: Conversation): void {
  if (frame.problem !== null) return emit({ fact: 'unparsed' });
  const error = dialect.readLogError(frame.text);
  if (error === null) emit({ fact: 'noise' });
  else emit({ fact: 'error', ...error });
}

/** Fields of all records, omitted from details. */
const ENVELOPE_FIELDS = 'type subtype uuid session_id parent_tool_use_id';
const ENVELOPE = toNames(ENVELOPE_FIELDS);

/** Fields that are already in events, by record type; records of other types keep all fields as details. */
const USED_FIELDS = toKnownFields({
  assistant: `${ENVELOPE_FIELDS} message error is_api_error_message api_error_status api_error_type isReplay`,
  user: `${ENVELOPE_FIELDS} message isReplay isSynthetic`,
  stream_event: `${ENVELOPE_FIELDS} event`,
  result:
    `${ENVELOPE_FIELDS} result is_error terminal_reason stop_reason num_turns duration_ms duration_api_ms usage ` +
    'modelUsage stats permission_denials structured_output structured_result api_error_status',
});

const USED_INIT_FIELDS = toNames(
  `${ENVELOPE_FIELDS} model cwd permissionMode permission_mode tools mcp_servers plugin_errors mcp_server_errors ` +
    'claude_code_version qwen_code_version',
);

/** Fields of a retry that are already in its event. */
const USED_ERROR_FIELDS = toNames(`${ENVELOPE_FIELDS} data attempt max_retries error_status`);

/** Reads a `system` record. Only `init` has the right session: earlier hooks can have a temporary id. */
function readSystem(record: object, conversation: Conversation): void {
  const { emit, dialect } = conversation;
  const subtype = get.string(record, 'subtype');
  const shape = `system(${subtype ?? ''})`;
  if (subtype === null || !dialect.fields.has(shape))
    return emit({ fact: 'unknown_type', type: `system ${subtype ?? 'without a subtype'}` });
  emit({ fact: 'record', record, shape, isWhole: true });
  if (subtype === 'init') return readInit(record, conversation);
  const error = dialect.readSystemError(subtype, record);
  if (error === null) return emit({ fact: 'status', status: subtype, detail: readDetail(record) });
  // Later output is a new answer, not the rest of the interrupted one.
  const shouldKeepText = get.boolean(get.object(record, 'data'), 'preserveText') === true;
  if (error.retrying === true && !shouldKeepText) conversation.agent.discard();
  emit({ fact: 'record', record, used: USED_ERROR_FIELDS });
  emit({ fact: 'error', ...error });
}

function readInit(record: object, conversation: Conversation): void {
  const { emit, dialect } = conversation;
  conversation.startTurn();
  emit({ fact: 'record', record, used: USED_INIT_FIELDS });
  emit({ fact: 'version', version: get.name(record, dialect.versionField) });
  emit({
    fact: 'status',
    status: 'init',
    session_id: get.name(record, 'session_id'),
    model: get.name(record, 'model'),
    detail: omitMissing({
      cwd: get.field(record, 'cwd'),
      permission_mode: get.field(record, dialect.permissionField),
      tools: get.field(record, 'tools'),
      mcp_servers: get.field(record, 'mcp_servers'),
      plugin_errors: get.field(record, 'plugin_errors'),
      mcp_server_errors: get.field(record, 'mcp_server_errors'),
    }),
  });
}

function readDetail(record: object, used = ENVELOPE): object {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !used.has(key)));
}

/** The number of array elements that are examined. */
const MAX_EXAMINED = 4;

/** Estimates how likely it is that the CLI printed a value: one of its records, or an array that starts with them. */
function detect(value: object, dialect: Dialect): number {
  if (!Array.isArray(value)) return hasSession(value) ? detectRecord(value, dialect) : 0;
  const records = value.slice(0, MAX_EXAMINED);
  if (records.length === 0 || !records.every((one) => isRecord(one) && hasSession(one))) return 0;
  return Math.max(...records.map((record: object) => detectRecord(record, dialect)));
}

/** Records that similar CLIs do not print in this form score higher. */
function detectRecord(record: object, { fields, versionField, scoreRecord }: Dialect): number {
  const type = get.string(record, 'type');
  if (type === null) return 0;
  if (type !== 'system') return fields.has(type) ? scoreRecord(type, record) : 0;
  const subtype = get.string(record, 'subtype') ?? '';
  if (!fields.has(`system(${subtype})`)) return 0;
  if (subtype !== 'init') return 0.6;
  return get.name(record, versionField) === null ? scoreRecord(type, record) : 1;
}

/** Returns the session of the agent's own records, not a hook's or a sub-agent's; of an array, the last. */
function readSession(value: object): string | null {
  if (!Array.isArray(value)) return readRecordSession(value);
  const last: unknown = value.at(-1);
  return isRecord(last) ? readRecordSession(last) : null;
}

function readRecordSession(record: object): string | null {
  const type = get.string(record, 'type');
  const isForeign = type === null || (type === 'system' && get.string(record, 'subtype') !== 'init');
  return isForeign || get.name(record, 'parent_tool_use_id') !== null ? null : get.name(record, 'session_id');
}

function hasSession(record: object): boolean {
  return get.name(record, 'session_id') !== null;
}

/**
 * Reads a `stream_event`: a message while it is being streamed. The complete blocks follow as `assistant` records; tool
 * calls are reported from those, with complete input.
 */
function readStreamEvent(record: object, conversation: Conversation): void {
  const { emit, dialect } = conversation;
  const event = get.object(record, 'event');
  const type = get.string(event, 'type');
  if (event === null || type === null)
    return emit({ fact: 'malformed', why: 'A stream_event has no event with a type.' });
  const shape = `stream_event(${type})`;
  if (!dialect.fields.has(shape)) return emit({ fact: 'unknown_type', type: `stream_event ${type}` });
  emit({ fact: 'record', record: event, shape });
  const parent = get.name(record, 'parent_tool_use_id');
  const speaker = conversation.getSpeaker(parent);
  switch (type) {
    case 'message_start': {
      if (parent === null) conversation.continueTurn();
      const message = get.object(event, 'message') ?? {};
      speaker.startMessage(get.name(message, 'id'));
      emit({ fact: 'record', record: message, used: USED_START_FIELDS, path: 'event.message' });
      return emit({ fact: 'status', status: type, model: get.name(message, 'model') });
    }
    case 'content_block_start':
      speaker.endBlock();
      return readBlockStart(event, parent, conversation);
    case 'content_block_delta':
      return readDelta(event, parent, conversation);
    case 'message_delta':
      emit({ fact: 'record', record: event, used: DELTA_ONLY, path: 'event' });
      emit({ fact: 'record', record: get.object(event, 'delta') ?? {}, used: STOP_REASON, path: 'event.delta' });
      return emit({ fact: 'status', status: type, reason: get.string(get.object(event, 'delta'), 'stop_reason') });
    case 'message_stop':
      speaker.endBlock();
      return emit({ fact: 'status', status: type });
    case 'error': {
      const message = get.string(get.object(event, 'error'), 'message') ?? 'The model stream ended with an error.';
      return emit({ fact: 'error', message });
    }
    default:
      return emit({ fact: 'status', status: type, detail: readDetail(event, TYPE) });
  }
}

const USED_START_FIELDS: ReadonlySet<string> = new Set(['id', 'type', 'role', 'model', 'content']);
const DELTA_ONLY: ReadonlySet<string> = new Set(['type', 'delta']);
const STOP_REASON: ReadonlySet<string> = new Set(['stop_reason']);
const TYPE: ReadonlySet<string> = new Set(['type']);

function readBlockStart(event: object, parent: string | null, conversation: Conversation): void {
  const block = get.object(event, 'content_block');
  const type = get.string(block, 'type');
  // Most blocks start empty; if one does not, its first content has no separate delta.
  if (type === 'text') conversation.getSpeaker(parent).addDelta('text', get.string(block, 'text') ?? '');
  if (type === 'thinking') conversation.getSpeaker(parent).addDelta('thinking', get.string(block, 'thinking') ?? '');
  const call = get.name(block, 'id');
  const detail = { type, ...(call === null ? undefined : { id: call, name: get.field(block, 'name') }) };
  conversation.emit({ fact: 'status', status: 'content_block_start', detail });
}

function readDelta(event: object, parent: string | null, conversation: Conversation): void {
  const { emit, dialect } = conversation;
  const delta = get.object(event, 'delta') ?? {};
  const type = get.string(delta, 'type');
  const shape = `delta(${type ?? ''})`;
  if (type === null || !dialect.fields.has(shape))
    return emit({ fact: 'unknown_type', type: `content_block_delta ${type ?? 'without a type'}` });
  emit({ fact: 'record', record: delta, shape });
  const text = get.string(delta, type === 'thinking_delta' ? 'thinking' : 'text') ?? '';
  if (type === 'text_delta' && text !== '') return conversation.getSpeaker(parent).addDelta('text', text);
  if (type === 'thinking_delta' && text !== '') return conversation.getSpeaker(parent).addDelta('thinking', text);
  // Part of a call's input, a signature or a citation.
  emit({ fact: 'status', status: type, detail: readDetail(delta, TYPE) });
}
