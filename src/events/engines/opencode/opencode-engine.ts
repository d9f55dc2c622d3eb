import { nameField, numberField, stringField } from '../../reading/record-fields.js';
import type { Engine } from '../engine.js';
import { TEXT_HEADER, createOpencodeReader } from './opencode-reader.js';
import { RECORD_FIELDS } from './records.js';

/** OpenCode: `opencode run --format json` prints a record a line on stdout; without the option plain text. */
export const opencodeEngine: Engine = {
  name: 'opencode',
  parser: 'opencode_ndjson',
  parserVersion: '1',
  framing: 'json',
  promises: { session: true, endSignal: true },
  detect,
  detectText: (line) => (TEXT_HEADER.test(line) ? 0.5 : 0),
  sessionOf: (value) => (detect(value) > 0 ? nameField(value, 'sessionID') : null),
  createReader: createOpencodeReader,
};

function detect(value: object): number {
  const type = stringField(value, 'type');
  if (type === null || nameField(value, 'sessionID') === null || numberField(value, 'timestamp') === null) return 0;
  return RECORD_FIELDS[type] === undefined ? 0.5 : 1;
}
