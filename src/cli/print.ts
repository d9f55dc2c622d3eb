import { randomUUID } from 'node:crypto';
import { cutText } from '../base/index.js';
import type { CommandIo } from './command-io.js';
import { makeVisible } from './terminal-text.js';

/** Prints a value as JSON: indented at a terminal, otherwise on one line. */
export async function printJson(value: unknown, { stdout }: CommandIo): Promise<void> {
  await stdout.write(`${renderJson(value, stdout.isTerminal ? 2 : 0)}\n`);
}

/** Whether to print JSON instead of text: with `--json`, or when the output is not a terminal. */
export function wantsJson({ json = false }: { readonly json?: boolean | undefined }, { stdout }: CommandIo): boolean {
  return json || !stdout.isTerminal;
}

/** The columns of a table by their headings: a field of the row, or a function that returns the cell. */
type Columns<Row> = Readonly<Record<string, CellName<Row> | ((row: Row) => Cell)>>;

type Cell = string | number | null | undefined;
type CellName<Row> = { [Name in keyof Row]-?: Row[Name] extends Cell ? Name : never }[keyof Row];

/** Longer cells are shortened; `--json` prints them completely. */
const MAX_WIDTH = 60;

/** Prints rows as a table, or as a JSON array with `--json` or when the output is not a terminal. */
export async function printRows<Row extends object>(
  rows: readonly Row[],
  columns: Columns<Row>,
  flags: { readonly json?: boolean | undefined },
  io: CommandIo,
): Promise<void> {
  if (wantsJson(flags, io)) return printJson(rows, io);
  const values = Object.values(columns);
  const table = [
    Object.keys(columns),
    ...rows.map((row) =>
      values.map((value) => formatCell(typeof value === 'function' ? value(row) : (row[value] as Cell))),
    ),
  ];
  const widths = values.map((_, index) =>
    table.reduce((widest, cells) => Math.max(widest, cells[index]?.length ?? 0), 0),
  );
  const formatRow = (cells: string[]): string => cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ');
  await io.stdout.write(table.map((cells) => `${formatRow(cells).trimEnd()}\n`).join(''));
}

function formatCell(value: Cell): string {
  const text = makeVisible(String(value ?? '–')).replaceAll(/\s+/g, ' ');
  return text.length > MAX_WIDTH ? `${cutText(text, MAX_WIDTH - 1)}…` : text;
}

/**
 * Renders a value as JSON. Unlike `JSON.stringify`, it writes a bigint as a number, and escapes control characters that
 * a terminal might interpret.
 */
export function renderJson(value: unknown, indent = 0): string {
  // Random, so no text of the value looks like a marked number.
  const mark = randomUUID();
  const markBigint = (_key: string, part: unknown): unknown => (typeof part === 'bigint' ? `${mark}${part}` : part);
  const json = JSON.stringify(value, markBigint, indent) ?? 'null';
  return escapeControls(json.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1'));
}

/** Escapes control characters that `JSON.stringify` leaves in JSON text and that a terminal might interpret. */
export function escapeControls(json: string): string {
  return json.replaceAll(/[\u007F-\u009F\u2028\u2029]/g, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
