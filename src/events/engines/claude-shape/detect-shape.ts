import { isRecord, nameField, stringField } from '../../reading/record-fields.js';

/** Elements of an array that are looked at. */
const MAX_LOOKED_AT = 4;

/** How surely a value is a program's: a record of its own, or an array that begins with such records. */
export function detectShape(value: object, detectRecord: (record: object) => number): number {
  if (!Array.isArray(value)) return hasSession(value) ? detectRecord(value) : 0;
  const records = value.slice(0, MAX_LOOKED_AT);
  if (records.length === 0 || !records.every((one) => isRecord(one) && hasSession(one))) return 0;
  return Math.max(...records.map(detectRecord));
}

/** The session of a record that speaks for the agent; hooks and sub-agents do not. Of an array, that of the last one. */
export function sessionOfShape(value: object): string | null {
  if (!Array.isArray(value)) return sessionOfRecord(value);
  const last: unknown = value.at(-1);
  return isRecord(last) ? sessionOfRecord(last) : null;
}

function sessionOfRecord(record: object): string | null {
  const type = stringField(record, 'type');
  const isOther = type === null || (type === 'system' && stringField(record, 'subtype') !== 'init');
  return isOther || nameField(record, 'parent_tool_use_id') !== null ? null : nameField(record, 'session_id');
}

function hasSession(record: object): boolean {
  return nameField(record, 'session_id') !== null;
}
