import { setOwnValue } from '../json-schema.js';
import { readLineValue } from './read-lines.js';

/** The line between the header of a Markdown table and its rows, without white space. */
const RULER = /^\|?:?-+:?(?:\|:?-+:?)+\|?$/;
/** A cell that shows that its row is not a record: the label of a total, or an ellipsis for omitted rows. */
const NON_RECORD_CELL =
  /^(?:(?:sub|grand )?total|sum|average|avg|mean|median|overall|gesamt|summe|durchschnitt)\b|^(?:合计|总计|合計)|^(?:\.{2,}|…)$/i;
const EMPHASIS = /^(\*\*|__|`)(.+)\1$/u;
/** A CSV cell, with the comma before it. */
const CSV_CELL = /(?:^|,)(?:[ \t]*"((?:[^"]|"")*)"[ \t]*|([^",]*))(?=,|$)/g;

/** The header and rows of a table, and the text before it. */
export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly before: string;
}

/**
 * Reads a table: its rows as objects if the header contains keys (a single row as one object), or one object if it has
 * two columns and the first contains keys. Undefined if a cell is empty or missing, a key is unknown or repeated, or a
 * row is a total.
 */
export function readTable(table: Table, isKnownKey: (key: string) => boolean): unknown {
  const { header, rows } = table;
  if (rows.length === 0 || rows.some((row) => row.length !== header.length)) return undefined;
  if (header.every(isKnownKey)) {
    if (rows.some((row) => row.some((cell) => NON_RECORD_CELL.test(cell)))) return undefined;
    const objects = rows.map((row) => toObject(header, row));
    if (objects.includes(undefined)) return undefined;
    return objects.length === 1 ? objects[0] : objects;
  }
  const keys = rows.map(([key = '']) => key);
  const values = rows.map(([, value = '']) => value);
  if (header.length !== 2 || header.some(isKnownKey) || !keys.every(isKnownKey)) return undefined;
  return values.some((value) => NON_RECORD_CELL.test(value)) ? undefined : toObject(keys, values);
}

/** Finds the input's Markdown table; undefined unless it contains exactly one. */
export function findTable(text: string): Table | undefined {
  const lines = text.split('\n');
  const [ruler, secondRuler] = lines.flatMap((line, index) => (RULER.test(line.replaceAll(/\s/g, '')) ? [index] : []));
  if (ruler === undefined || ruler === 0 || secondRuler !== undefined) return undefined;
  const end = lines.findIndex((line, index) => index > ruler && !line.includes('|'));
  return {
    header: splitRow(lines[ruler - 1] ?? ''),
    rows: lines.slice(ruler + 1, end === -1 ? undefined : end).map(splitRow),
    before: lines.slice(0, ruler - 1).join('\n'),
  };
}

/** Splits lines of CSV; undefined without a header of at least two names. A line that is not CSV becomes an empty row. */
export function splitCsv(text: string): Table | undefined {
  const [header = [], ...rows] = text.split('\n').map((line) => {
    const cells = [...line.trim().matchAll(CSV_CELL)];
    const isWhole = cells.reduce((length, [cell]) => length + cell.length, 0) === line.trim().length;
    return isWhole ? cells.map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim()) : [];
  });
  return header.length < 2 ? undefined : { header, rows, before: '' };
}

function splitRow(line: string): string[] {
  const cells = line.trim().replaceAll(/^\||(?<!\\)\|$/g, '');
  return cells.split(/(?<!\\)\|/).map((cell) => {
    const text = cell.trim().replaceAll(String.raw`\|`, '|');
    return EMPHASIS.exec(text)?.[2] ?? text;
  });
}

function toObject(keys: readonly string[], cells: readonly string[]): Record<string, unknown> | undefined {
  const object: Record<string, unknown> = {};
  for (const [index, key] of keys.entries()) {
    const cell = cells[index] ?? '';
    if (cell === '' || Object.hasOwn(object, key)) return undefined;
    setOwnValue(object, key, readLineValue(cell));
  }
  return object;
}
