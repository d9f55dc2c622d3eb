import { field, nameField, objectField, stringField } from '../../reading/record-fields.js';
import type { Engine } from '../engine.js';
import { isDocument } from './gemini-document.js';
import { isGeminiLogLine } from './gemini-log.js';
import { createGeminiReader } from './gemini-reader.js';
import { isStreamRecord } from './gemini-stream.js';

/** Google's Gemini CLI: one document, a record a line, or plain text, on whichever stream. */
export const geminiEngine: Engine = {
  name: 'gemini',
  parser: 'gemini_json',
  parserVersion: '1',
  framing: 'json',
  promises: { session: true, endSignal: true },
  detect,
  detectText: (line) => (isGeminiLogLine(line) ? 0.6 : 0),
  sessionOf,
  createReader: createGeminiReader,
};

/** What shows that a record with a type and a timestamp is Gemini's: other programs print such records too. */
const SIGNS: readonly ((record: object) => number)[] = [
  (record) => (isOfType(record, 'init', 'session_id') && nameField(record, 'model') !== null ? 1 : 0),
  (record) => (isOfType(record, 'tool_use', 'tool_id') || isOfType(record, 'tool_result', 'tool_id') ? 1 : 0),
  (record) => (isOfType(record, 'message', 'role') || isOfType(record, 'error', 'severity') ? 0.7 : 0),
  (record) => (isOfType(record, 'result', 'status') ? 0.9 : 0),
];

function isOfType(record: object, type: string, key: string): boolean {
  return stringField(record, 'type') === type && nameField(record, key) !== null;
}

function detect(value: object): number {
  if (isStreamRecord(value)) return SIGNS.reduce((score, sign) => Math.max(score, sign(value)), 0);
  if (!isDocument(value)) return 0;
  // The server's own errors look like a document without a session; the log quotes them.
  if (nameField(value, 'session_id') === null) return objectField(value, 'stats') === null ? 0 : 0.7;
  return objectField(objectField(value, 'stats') ?? {}, 'models') === null ? 0.7 : 1;
}

function sessionOf(value: object): string | null {
  const isNaming = isDocument(value) || (stringField(value, 'type') === 'init' && field(value, 'model') !== undefined);
  return isNaming ? nameField(value, 'session_id') : null;
}
