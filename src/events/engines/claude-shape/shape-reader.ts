import type { JsonFrame, TextFrame } from '../../framing/frame.js';
import {
  isRecord,
  getName,
  getObject,
  getString,
  omitMissing,
  createFieldTable,
  getBoolean,
  getField,
} from '../../reading/record-fields.js';
import { TextAnswer } from '../../reading/text-answer.js';
import type { Reader } from '../engine.js';
import type { EngineErrorReport, Report } from '../report.js';
import { ControlRecords } from './control.js';
import { Conversation } from './conversation.js';
import type { Dialect } from './dialect.js';
import { readAssistant, readUser } from './read-message.js';
import { readResult } from './read-result.js';
import { readStreamEvent } from './read-stream-event.js';

/** Confidence that plain lines on stdout are the answer. */
const TEXT_CONFIDENCE = 0.4;

/** A field of every record: text that contains it is an incomplete record. */
const INCOMPLETE_RECORD = /"(?:session_id|uuid)"\s*:/u;

/** Reads the output of Claude Code and similar CLIs: one record per line, a single document, or plain text. */
export function createShapeReader(dialect: Dialect, report: Report): Reader {
  const conversation = new Conversation(dialect, report);
  const control = new ControlRecords(report);
  const answer = new TextAnswer(report, ({ kind }) => (kind === 'text' ? TEXT_CONFIDENCE : null));
  let hasRecords = false;
  let hasText = false;

  /** Handles the first record. With `json` the output is one document: a single result, or all records in an array. */
  function startRecords(frame: JsonFrame, isDocument: boolean): void {
    if (hasRecords) return;
    hasRecords = true;
    answer.reject(frame);
    if (isDocument) report.parser(dialect.documentParser);
  }

  function readRecord(record: object): void {
    const type = getString(record, 'type');
    if (type === 'system') return readSystem(record, conversation);
    const knownFields = type === null ? undefined : dialect.tables.records[type];
    if (type === null || knownFields === undefined) return report.unknownType(type ?? 'record without a type');
    report.checkFields(record, knownFields, type);
    const usedFields = USED_FIELDS[type];
    if (usedFields !== undefined) report.keepUnusedFields(record, usedFields);
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
          else report.unparsed('MALFORMED_RECORD', 'The array contains something other than records.');
        }
      } else if (isKnownRecord(dialect, value, hasRecords)) {
        startRecords(frame, getString(value, 'type') === 'result');
        if (frame.stream !== 'stdout' || !control.readPrinted(value)) readRecord(value);
      } else if (frame.stream === 'stdout' && answer.isPossible) answer.hold(frame);
      else report.unknownType(getString(value, 'type') ?? 'record without a type');
    },
    text(frame) {
      if (frame.stream === 'stdin') return report.unparsed();
      if (frame.stream === 'stderr' || (frame.stream === 'pty' && !INCOMPLETE_RECORD.test(frame.text)))
        return readLog(frame, conversation);
      if (frame.problem !== null || INCOMPLETE_RECORD.test(frame.text)) answer.reject(frame);
      if (frame.stream !== 'stdout' || !answer.isPossible) return report.unparsed();
      // In text mode, the CLI prints an error in place of its answer.
      const error = hasText ? null : dialect.readLogError(frame.text);
      hasText = error === null;
      if (error === null) return answer.hold(frame);
      report.confidence(TEXT_CONFIDENCE);
      if (error.retrying === true) report.engineError(error);
      else reportFatalError(error, conversation);
    },
    blank: (frame) => answer.blank(frame),
    end() {
      conversation.endTurn();
      answer.end();
    },
  };
}

/**
 * Whether a value is one of the CLI's records: it has a type and a session. A record without a session is recognized by
 * its type once the CLI has printed others.
 */
function isKnownRecord({ tables }: Dialect, value: unknown, hasRecords: boolean): value is object {
  if (!isRecord(value)) return false;
  const type = getString(value, 'type');
  if (type === null) return false;
  if (getName(value, 'session_id') !== null || type.startsWith('control_')) return true;
  return hasRecords && (type === 'system' || tables.records[type] !== undefined);
}

function readKnown(type: string, record: object, conversation: Conversation): void {
  const { report } = conversation;
  // A hook can have a temporary session id; the agent's own records have the right one.
  const isMain = getName(record, 'parent_tool_use_id') === null;
  switch (type) {
    case 'assistant':
    case 'user':
    case 'stream_event':
      if (isMain) report.session(getName(record, 'session_id'));
      if (type === 'assistant') return readAssistant(record, conversation);
      if (type === 'user') return readUser(record, conversation);
      return readStreamEvent(record, conversation);
    case 'result':
      return readResult(record, conversation);
    case 'rate_limit_event':
      return readRateLimit(record, conversation);
    default:
      return report.status({ status: type, detail: readDetail(record) });
  }
}

/** Reads a rate limit state. Any state but `allowed` is reported as a warning. */
function readRateLimit(record: object, { report }: Conversation): void {
  const detail = readDetail(record);
  const info = getObject(record, 'rate_limit_info') ?? {};
  const state = getString(info, 'status') ?? 'unknown';
  if (state === 'allowed') return report.status({ status: 'rate_limit_event', reason: state, detail });
  const code = 'ENGINE_RATE_LIMIT_HINT';
  report.engineError({
    message: `The engine reported the rate limit status "${state}".`,
    retrying: true,
    code,
    detail,
  });
}

/**
 * Reports an error that ended the CLI, such as the document it prints if it cannot start; some CLIs repeat it on
 * stderr.
 */
function reportFatalError(error: EngineErrorReport, conversation: Conversation): void {
  const { report } = conversation;
  if (!conversation.reportFailure(error)) report.status({ status: 'error', detail: error.detail });
  report.runtimeError(error.message);
}

function readLog(frame: TextFrame, { report, dialect }: Conversation): void {
  if (frame.problem !== null) return report.unparsed();
  const error = dialect.readLogError(frame.text);
  if (error === null) report.noise();
  else report.engineError(error);
}

const ENVELOPE_FIELDS = ['type', 'subtype', 'uuid', 'session_id', 'parent_tool_use_id'] as const;

/** Fields of all records, omitted from details. */
const ENVELOPE: ReadonlySet<string> = new Set(ENVELOPE_FIELDS);

/** Fields that are already in events, by record type; records of other types keep all fields as details. */
const USED_FIELDS = createFieldTable(ENVELOPE_FIELDS, {
  assistant: ['message', 'error', 'is_api_error_message', 'api_error_status', 'api_error_type', 'isReplay'],
  user: ['message', 'isReplay', 'isSynthetic'],
  stream_event: ['event'],
  result: [
    'result',
    'is_error',
    'terminal_reason',
    'stop_reason',
    'num_turns',
    'duration_ms',
    'duration_api_ms',
    'usage',
    'modelUsage',
    'stats',
    'permission_denials',
    'structured_output',
    'structured_result',
    'api_error_status',
  ],
});

const USED_INIT_FIELDS: ReadonlySet<string> = new Set([
  ...ENVELOPE_FIELDS,
  'model',
  'cwd',
  'permissionMode',
  'permission_mode',
  'tools',
  'mcp_servers',
  'plugin_errors',
  'mcp_server_errors',
  'claude_code_version',
  'qwen_code_version',
]);

/** Fields of a retry that are already in its event. */
const USED_ERROR_FIELDS: ReadonlySet<string> = new Set([
  ...ENVELOPE_FIELDS,
  'data',
  'attempt',
  'max_retries',
  'error_status',
]);

/** Reads a `system` record. Only `init` has the right session: earlier hooks can have a temporary id. */
function readSystem(record: object, conversation: Conversation): void {
  const { report, dialect } = conversation;
  const subtype = getString(record, 'subtype');
  const knownFields = subtype === null ? undefined : dialect.tables.system[subtype];
  if (subtype === null || knownFields === undefined)
    return report.unknownType(`system ${subtype ?? 'without a subtype'}`);
  report.checkFields(record, knownFields, `system(${subtype})`);
  if (subtype === 'init') return readInit(record, conversation);
  const error = dialect.readSystemError(subtype, record);
  if (error === null) return report.status({ status: subtype, detail: readDetail(record) });
  // Later output is a new answer, not the rest of the interrupted one.
  const shouldKeepText = getBoolean(getObject(record, 'data') ?? {}, 'preserveText') === true;
  if (error.retrying === true && !shouldKeepText) conversation.agent.discard();
  report.keepUnusedFields(record, USED_ERROR_FIELDS);
  report.engineError(error);
}

function readInit(record: object, conversation: Conversation): void {
  const { report, dialect } = conversation;
  conversation.startTurn();
  report.keepUnusedFields(record, USED_INIT_FIELDS);
  report.engineVersion(getName(record, dialect.versionField));
  report.status({
    status: 'init',
    session_id: getName(record, 'session_id'),
    model: getName(record, 'model'),
    detail: omitMissing({
      cwd: getField(record, 'cwd'),
      permission_mode: getField(record, dialect.permissionField),
      tools: getField(record, 'tools'),
      mcp_servers: getField(record, 'mcp_servers'),
      plugin_errors: getField(record, 'plugin_errors'),
      mcp_server_errors: getField(record, 'mcp_server_errors'),
    }),
  });
}

/** Returns a record without the fields that all records have. */
function readDetail(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !ENVELOPE.has(key)));
}

/** The number of array elements that are examined. */
const MAX_EXAMINED = 4;

/** Estimates how likely it is that the CLI printed a value: one of its records, or an array that starts with them. */
export function detectShape(value: object, detectRecord: (record: object) => number): number {
  if (!Array.isArray(value)) return hasSession(value) ? detectRecord(value) : 0;
  const records = value.slice(0, MAX_EXAMINED);
  if (records.length === 0 || !records.every((one) => isRecord(one) && hasSession(one))) return 0;
  return Math.max(...records.map(detectRecord));
}

/**
 * Returns the session of one of the agent's own records, not a hook's or a sub-agent's; for an array, the session of
 * its last record.
 */
export function readShapeSession(value: object): string | null {
  if (!Array.isArray(value)) return readRecordSession(value);
  const last: unknown = value.at(-1);
  return isRecord(last) ? readRecordSession(last) : null;
}

function readRecordSession(record: object): string | null {
  const type = getString(record, 'type');
  const isForeign = type === null || (type === 'system' && getString(record, 'subtype') !== 'init');
  return isForeign || getName(record, 'parent_tool_use_id') !== null ? null : getName(record, 'session_id');
}

function hasSession(record: object): boolean {
  return getName(record, 'session_id') !== null;
}
