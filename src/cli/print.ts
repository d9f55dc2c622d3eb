import { cutText } from '../base/index.js';
import type { CommandIo } from './command-io.js';
import { renderJson } from './render-json.js';
import { makeVisible } from './terminal-text.js';

/** Prints a value as JSON: indented at a terminal, otherwise on one line. */
export async function printJson(value: unknown, { stdout }: CommandIo): Promise<void> {
  await stdout.write(`${renderJson(value, stdout.isTerminal ? 2 : 0)}\n`);
}

/** Whether to print JSON instead of text: with `--json`, or when the output is not a terminal. */
export function wantsJson({ json = false }: { readonly json?: boolean | undefined }, { stdout }: CommandIo): boolean {
  return json || !stdout.isTerminal;
}

/** A column of a table. */
interface Column<Row> {
  readonly heading: string;
  readonly value: (row: Row) => string | number | null;
}

/** Longer cells are shortened; `--json` prints them completely. */
const MAX_WIDTH = 60;

/** Prints rows as a table, or as a JSON array with `--json` or when the output is not a terminal. */
export async function printRows<Row extends object>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  flags: { readonly json?: boolean | undefined },
  io: CommandIo,
): Promise<void> {
  if (wantsJson(flags, io)) await printJson(rows, io);
  else await io.stdout.write(renderTable(rows, columns));
}

function renderTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const table = [
    columns.map(({ heading }) => heading),
    ...rows.map((row) => columns.map((column) => formatCell(column.value(row)))),
  ];
  const widths = columns.map((_, index) =>
    table.reduce((widest, cells) => Math.max(widest, cells[index]?.length ?? 0), 0),
  );
  const lines = table.map((cells) =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

function formatCell(value: string | number | null): string {
  const text = makeVisible(String(value ?? '–')).replaceAll(/\s+/g, ' ');
  return text.length > MAX_WIDTH ? `${cutText(text, MAX_WIDTH - 1)}…` : text;
}
