import { nameField, objectField, stringField } from '../../reading/record-fields.js';
import type { Engine } from '../engine.js';
import { createCodexReader } from './codex-reader.js';
import { ITEM_FIELDS, RECORD_FIELDS } from './records.js';

/** OpenAI Codex: `codex exec --json` prints one record a line on stdout; without it the answer as plain text. */
export const codexEngine: Engine = {
  name: 'codex',
  parser: 'codex_ndjson',
  parserVersion: '1',
  framing: 'json',
  promises: { session: true, endSignal: true },
  detect,
  detectText: (line) => (/^OpenAI Codex v\d/u.test(line) ? 1 : 0),
  sessionOf: (value) => (stringField(value, 'type') === 'thread.started' ? nameField(value, 'thread_id') : null),
  createReader: createCodexReader,
};

function detect(value: object): number {
  const type = stringField(value, 'type');
  if (type === null || RECORD_FIELDS[type] === undefined) return 0;
  if (type === 'thread.started') return nameField(value, 'thread_id') === null ? 0 : 1;
  if (type.startsWith('item.')) {
    const itemType = stringField(objectField(value, 'item') ?? {}, 'type');
    return itemType !== null && ITEM_FIELDS[itemType] !== undefined ? 1 : 0.5;
  }
  // Other programs print `error` too, and theirs has more fields.
  if (type === 'error') return Object.keys(value).length === 2 && stringField(value, 'message') !== null ? 0.3 : 0;
  return 0.8;
}
