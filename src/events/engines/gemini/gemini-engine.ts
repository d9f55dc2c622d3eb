import type { Engine } from '../../engine.js';
import { field, nameField, objectField, stringField } from '../../record-fields.js';
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

function detect(value: object): number {
  if (isStreamRecord(value)) {
    const isNamed = nameField(value, 'tool_id') !== null || nameField(value, 'session_id') !== null;
    return isNamed || objectField(value, 'stats') !== null ? 1 : 0.7;
  }
  if (!isDocument(value)) return 0;
  // The server's own errors look like a document without a session; the log quotes them.
  if (nameField(value, 'session_id') === null) return objectField(value, 'stats') === null ? 0 : 0.7;
  return objectField(objectField(value, 'stats') ?? {}, 'models') === null ? 0.7 : 1;
}

function sessionOf(value: object): string | null {
  const isNaming = isDocument(value) || (stringField(value, 'type') === 'init' && field(value, 'model') !== undefined);
  return isNaming ? nameField(value, 'session_id') : null;
}
