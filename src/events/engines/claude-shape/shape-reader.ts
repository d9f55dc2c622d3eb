import type { JsonFrame, TextFrame } from '../../framing/frame.js';
import { isRecord, nameField, objectField, stringField } from '../../reading/record-fields.js';
import { TextAnswer } from '../../reading/text-answer.js';
import type { Reader } from '../engine.js';
import type { EngineErrorReport, Report } from '../report.js';
import { Conversation } from './conversation.js';
import type { Dialect } from './dialect.js';
import { readAssistant, readUser } from './read-message.js';
import { readResult } from './read-result.js';
import { readStreamEvent } from './read-stream-event.js';
import { detailOf, readSystem } from './read-system.js';

/** How sure it is that plain lines on stdout are the answer. */
const TEXT_CONFIDENCE = 0.4;

/** A field of every record: text with it is a torn one. */
const TORN_RECORD = /"(?:session_id|uuid)"\s*:/u;

/** Reads what Claude Code and the programs modelled after it print: a record a line, one document, or plain text. */
export function createShapeReader(dialect: Dialect, report: Report): Reader {
  const conversation = new Conversation(dialect, report);
  const answer = new TextAnswer(report, ({ kind }) => (kind === 'text' ? TEXT_CONFIDENCE : null));
  let hasRecords = false;
  let hasText = false;

  /** With `json` there are no records before the end: a lone result, or all of them in an array. */
  function begins(frame: JsonFrame, isDocument: boolean): void {
    if (hasRecords) return;
    hasRecords = true;
    answer.ruleOut(frame);
    if (isDocument) report.parser(dialect.documentParser);
  }

  function readRecord(record: object): void {
    const type = stringField(record, 'type');
    if (type === 'system') return readSystem(record, conversation);
    const known = type === null ? undefined : dialect.tables.records[type];
    if (type === null || known === undefined) return report.unknownType(type ?? 'a record without a type');
    report.checkFields(record, known, type);
    readKnown(type, record, conversation);
  }

  return {
    json(frame) {
      const { value } = frame;
      // Between lines of text the same document is a part of the answer.
      const error = hasText && answer.isPossible ? null : dialect.errorDocument(value);
      if (error !== null) return readErrorDocument(error, conversation);
      if (Array.isArray(value) && value.some((one) => isRecordOf(dialect, one, hasRecords))) {
        begins(frame, true);
        for (const record of value) {
          if (isRecord(record)) readRecord(record);
          else report.unparsed('MALFORMED_RECORD', 'The array of records holds something else.');
        }
      } else if (isRecordOf(dialect, value, hasRecords)) {
        begins(frame, stringField(value, 'type') === 'result');
        readRecord(value);
      } else if (frame.stream === 'stdout' && answer.isPossible) answer.hold(frame);
      else report.unknownType(stringField(value, 'type') ?? 'a record without a type');
    },
    text(frame) {
      if (frame.stream === 'stderr' || (frame.stream === 'pty' && !TORN_RECORD.test(frame.text)))
        return readLog(frame, conversation);
      if (frame.problem !== null || TORN_RECORD.test(frame.text)) answer.ruleOut(frame);
      if (frame.stream !== 'stdout' || !answer.isPossible) return report.unparsed();
      // Without records, an error is printed where the answer would stand.
      const error = hasText ? null : dialect.logError(frame.text);
      hasText = error === null;
      if (error === null) return answer.hold(frame);
      report.confidence(TEXT_CONFIDENCE);
      if (error.retrying === true) report.engineError(error);
      else readErrorDocument(error, conversation);
    },
    blank: (frame) => answer.blank(frame),
    end() {
      conversation.ends();
      answer.end();
    },
  };
}

/**
 * A record names its type and its session. The few that have no session, and those that lost theirs, are known by their
 * type once the program has shown that it prints records.
 */
function isRecordOf({ tables }: Dialect, value: unknown, hasRecords: boolean): value is object {
  if (!isRecord(value)) return false;
  const type = stringField(value, 'type');
  if (type === null) return false;
  if (nameField(value, 'session_id') !== null || type.startsWith('control_')) return true;
  return hasRecords && (type === 'system' || tables.records[type] !== undefined);
}

function readKnown(type: string, record: object, conversation: Conversation): void {
  const { report } = conversation;
  // A hook may run under an id that is thrown away; what the agent says and does has the right one.
  const isMain = nameField(record, 'parent_tool_use_id') === null;
  switch (type) {
    case 'assistant':
    case 'user':
    case 'stream_event':
      if (isMain) report.session(nameField(record, 'session_id'));
      if (type === 'assistant') return readAssistant(record, conversation);
      if (type === 'user') return readUser(record, conversation);
      return readStreamEvent(record, conversation);
    case 'result':
      return readResult(record, conversation);
    case 'rate_limit_event':
      return readRateLimit(record, conversation);
    default:
      return report.status({ status: type, detail: detailOf(record) });
  }
}

/** The state of a limit, told from time to time. Only what is not plainly allowed is worth a warning. */
function readRateLimit(record: object, { report }: Conversation): void {
  const detail = detailOf(record);
  const info = objectField(record, 'rate_limit_info') ?? {};
  const state = stringField(info, 'status') ?? 'unknown';
  if (state === 'allowed') return report.status({ status: 'rate_limit_event', reason: state, detail });
  const code = 'ENGINE_RATE_LIMIT_HINT';
  report.engineError({ message: `The rate limit says ${state}.`, retrying: true, code, detail });
}

/** What a program prints that could not even begin, or prints again on stderr. */
function readErrorDocument(error: EngineErrorReport, conversation: Conversation): void {
  const { report } = conversation;
  if (!conversation.fails(error)) report.status({ status: 'error', detail: error.detail });
  report.runtimeError(error.message);
}

function readLog(frame: TextFrame, { report, dialect }: Conversation): void {
  if (frame.problem !== null) return report.unparsed();
  const error = dialect.logError(frame.text);
  if (error === null) report.noise();
  else report.engineError(error);
}
