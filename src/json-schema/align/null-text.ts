import { foldCase } from './fold-text.js';

const WORDS = new Set([
  '',
  'null',
  'none',
  'nil',
  'n/a',
  'na',
  'nan',
  'undefined',
  'not applicable',
  'not available',
  '-',
  '--',
  '—',
  '–',
  '无',
  '暂无',
  '不适用',
]);

/** Tells whether a value says that there is none. `unknown` does not: it is an answer. */
export function saysNull(value: unknown): boolean {
  if (value === null) return true;
  if (typeof value !== 'string' || value.length > 20) return false;
  return WORDS.has(
    foldCase(value)
      .trim()
      .replaceAll(/^[<("'[]+|[>)"'\].]+$/g, ''),
  );
}
