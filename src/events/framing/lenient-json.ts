import { MAX_DEPTH } from './json-scanner.js';

/** A value of at least this many characters may be deeper than {@link MAX_DEPTH}. */
const DEEP_LENGTH = 2 * MAX_DEPTH;

/**
 * Reads a JSON object or array; null if it is none. Control characters inside strings (physical newlines, NUL), which
 * the standard forbids and programs print, are read as if they had been escaped.
 *
 * @example
 * readJson('{"text":"one\ntwo"}') // { text: 'one\ntwo' }
 */
export function readJson(text: string): object | null {
  return tryParse(text) ?? tryParse(escapeControls(text));
}

/** Whether a value is nested deeper than may be passed on. Only long ones are looked at. */
export function isTooDeep(value: object, text: string): boolean {
  return text.length > DEEP_LENGTH && exceeds(value, MAX_DEPTH);
}

function exceeds(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => exceeds(item, levels - 1));
  for (const key in value) {
    if (exceeds((value as Record<string, unknown>)[key], levels - 1)) return true;
  }
  return false;
}

function tryParse(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

/** Only characters inside of strings: the scanner has already refused them elsewhere. */
function escapeControls(text: string): string {
  let inString = false;
  return text.replaceAll(CONTROL_OR_STRING_MARK, (match) => {
    if (match === '"') inString = !inString;
    if (match.length > 1 || match === '"' || !inString) return match;
    return `\\u${match.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

const CONTROL_OR_STRING_MARK = new RegExp(String.raw`\\[^]|"|[\u0000-\u001f]`, 'gu');
