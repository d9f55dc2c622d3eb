import type { RaspEvent } from '../../../src/events/index.js';
import { writeValue } from './write-value.js';

/** What is said of an event in one line. */
const LONGEST = 240;

/** Where the words of an event stand, by name: types this version does not know are told too. */
const TELLING = ['text', 'message', 'prompt', 'path', 'name', 'status', 'state', 'reason_code', 'code'] as const;

/**
 * An event in one line: its words, or whatever of its data tells the most.
 *
 * @example
 * summarizeEvent(event) // 'shell: ls -l'
 */
export function summarizeEvent({ data }: RaspEvent): string {
  const fields = new Map<string, unknown>(Object.entries(data));
  const error = fields.get('error');
  if (typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string') {
    return oneLine(error.message);
  }
  const name = fields.get('name');
  const detail = fields.get('input') ?? error ?? fields.get('output');
  if (typeof name === 'string' && detail !== undefined) return oneLine(`${name}: ${writeValue(detail, LONGEST).text}`);
  for (const key of TELLING) {
    const value = fields.get(key);
    if (typeof value === 'string') return oneLine(value);
  }
  return oneLine(writeValue(data, LONGEST).text);
}

function oneLine(text: string): string {
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return short.replaceAll(/\s+/g, ' ').trim();
}
