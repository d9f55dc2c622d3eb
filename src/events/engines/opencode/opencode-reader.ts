import type { TextFrame } from '../../framing/frame.js';
import { nameField, objectField, stringField } from '../../reading/record-fields.js';
import { TextAnswer } from '../../reading/text-answer.js';
import type { Reader } from '../engine.js';
import type { Report } from '../report.js';
import { readError } from './opencode-error.js';
import { readReasoning, readStepFinish, readText, readTool } from './opencode-parts.js';
import { PART_FIELDS, RECORD_FIELDS } from './records.js';

/** How sure it is that plain lines on stdout are the answer, if the header of the text mode was printed. */
const TEXT_CONFIDENCE = 0.6;

/** `> build · gpt-5`: agent and model, printed on stderr by the text mode alone. */
export const TEXT_HEADER = /^> \S+ · \S/u;

const TEXT_ERROR = /^Error: /u;

/** A piece of a torn record: never an answer in plain text. */
const TORN = /"(?:sessionID|messageID|callID)":"|"timestamp":\d{13}/u;

/** Reads what `opencode run` prints, as records or as plain text. */
export function createOpencodeReader(report: Report): Reader {
  let hasHeader = false;
  const answer = new TextAnswer(report, () => (hasHeader ? TEXT_CONFIDENCE : null));

  return {
    json(frame) {
      const { value } = frame;
      if (isRecordLike(value)) {
        answer.ruleOut(frame);
        return readRecord(value, report);
      }
      if (frame.stream === 'stdout' && answer.isPossible) return answer.hold(frame);
      report.unknownType(stringField(value, 'type') ?? 'a value without a type');
    },
    text(frame) {
      if (frame.stream !== 'stdout' && frame.problem === null) {
        hasHeader ||= TEXT_HEADER.test(frame.text);
        return TEXT_ERROR.test(frame.text) ? readTextError(frame, report) : report.noise();
      }
      if (isTorn(frame)) answer.ruleOut(frame);
      if (frame.stream === 'stdout' && answer.isPossible) answer.hold(frame);
      else report.unparsed();
    },
    blank: (frame) => answer.blank(frame),
    end: () => answer.end(),
  };
}

function isRecordLike(value: object): boolean {
  return stringField(value, 'type') !== null && nameField(value, 'sessionID') !== null;
}

function isTorn({ text, encoding }: TextFrame): boolean {
  return encoding === 'binary' || TORN.test(text);
}

function readRecord(record: object, report: Report): void {
  const type = stringField(record, 'type') ?? '';
  const known = RECORD_FIELDS[type];
  if (known === undefined) return report.unknownType(type);
  report.checkFields(record, known, type);
  const sessionId = nameField(record, 'sessionID');
  if (type === 'error') {
    report.session(sessionId);
    return readError(record, report);
  }
  const part = objectField(record, 'part');
  if (part === null) return report.unparsed('MALFORMED_RECORD', `A record of type ${type} has no part.`);
  report.checkFields(part, PART_FIELDS[type] ?? NOTHING, `${type}.part`);
  if (type === 'step_start') {
    report.turnStarted();
    return report.status({ status: type, session_id: sessionId });
  }
  if (type === 'step_finish') return readStepFinish(part, sessionId, report);
  report.session(sessionId);
  if (type === 'text') return readText(part, report);
  return type === 'reasoning' ? readReasoning(part, report) : readTool(part, report);
}

const NOTHING: ReadonlySet<string> = new Set();

/** The text mode prints an error only when it gives up. */
function readTextError({ text }: TextFrame, report: Report): void {
  const message = text.slice('Error: '.length).trim();
  report.engineError({ message });
  report.runtimeError(message);
}
