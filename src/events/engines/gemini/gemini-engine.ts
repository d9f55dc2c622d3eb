import { getField, getName, getObject, getString, isRecord } from '../../reading/record-fields.js';
import type { Engine, Reader } from '../engine.js';
import type { JsonFrame, TextFrame } from '../../framing/frame.js';
import type { ParserName } from '../../protocol/engine-names.js';
import { TextAnswer } from '../../reading/text-answer.js';
import type { Emit } from '../fact.js';
import { isDocument, readDocument } from './gemini-document.js';
import { isGeminiLogLine, GeminiLog } from './gemini-log.js';
import { GEMINI_FIELDS, GeminiStream, isStreamRecord } from './gemini-stream.js';

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

/** Checks that identify a record as Gemini's: other CLIs also print records with a type and a timestamp. */
const RECORD_CHECKS: readonly ((record: object) => number)[] = [
  (record) => (isOfType(record, 'init', 'session_id') && getName(record, 'model') !== null ? 1 : 0),
  (record) => (isOfType(record, 'tool_use', 'tool_id') || isOfType(record, 'tool_result', 'tool_id') ? 1 : 0),
  (record) => (isOfType(record, 'message', 'role') || isOfType(record, 'error', 'severity') ? 0.7 : 0),
  (record) => (isOfType(record, 'result', 'status') ? 0.9 : 0),
];

function isOfType(record: object, type: string, key: string): boolean {
  return getString(record, 'type') === type && getName(record, key) !== null;
}

function detect(value: object): number {
  if (isStreamRecord(value)) return RECORD_CHECKS.reduce((score, test) => Math.max(score, test(value)), 0);
  if (!isDocument(value)) return 0;
  // The log quotes API errors, which look like a document without a session.
  if (getName(value, 'session_id') === null) return getObject(value, 'stats') === null ? 0 : 0.7;
  return getObject(getObject(value, 'stats') ?? {}, 'models') === null ? 0.7 : 1;
}

function readSession(value: object): string | null {
  const hasSession =
    isDocument(value) || (getString(value, 'type') === 'init' && getField(value, 'model') !== undefined);
  return hasSession ? getName(value, 'session_id') : null;
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
      if (frame.stream === 'stdout' && answer.isPossible) return answer.hold(frame);
      emit({ fact: 'unknown_type', type: getString(value, 'type') ?? 'value without a type' });
    },
    text(frame) {
      // In text mode, lines after the first line of the answer belong to it, even if they look like a failure.
      if (log.read(frame, frame.stream === 'stdout' && answer.hasLines)) return;
      if (frame.stream !== 'stdout' && frame.problem === null) return emit({ fact: 'noise' });
      if (isIncompleteRecord(frame)) answer.reject(frame);
      if (frame.stream === 'stdout' && answer.isPossible) answer.hold(frame);
      else emit({ fact: 'unparsed' });
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
  const error = Object.keys(value).length === 1 ? getObject(value, 'error') : null;
  if (error === null || getString(error, 'message') === null) return false;
  const code = getField(error, 'code');
  return typeof code === 'number' && code >= 400 && code < 600;
}

function isNamedDocument(value: object): boolean {
  return isDocument(value) && getString(value, 'session_id') !== null;
}

function isIncompleteRecord({ text, encoding }: TextFrame): boolean {
  return encoding === 'binary' || INCOMPLETE_RECORD.test(text);
}
