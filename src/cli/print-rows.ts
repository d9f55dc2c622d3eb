import type { CommandIo } from './command-io.js';
import { isJsonDue, printJson } from './print-json.js';
import { visibleText } from './visible-text.js';

/** A column of a table for people: its heading, and what stands in it. */
export interface Column<Row> {
  readonly heading: string;
  readonly of: (row: Row) => string | number | null;
}

/** A cell is a glance; `--json` has the whole. */
const WIDEST = 60;

/** Prints rows: a table for a person at a terminal, an array of JSON when asked or piped. */
export async function printRows<Row extends object>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  flags: { readonly json?: boolean | undefined },
  io: CommandIo,
): Promise<void> {
  if (isJsonDue(flags, io)) await printJson(rows, io);
  else await io.stdout.write(renderTable(rows, columns));
}

function renderTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const table = [
    columns.map(({ heading }) => heading),
    ...rows.map((row) => columns.map((column) => cellOf(column.of(row)))),
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

function cellOf(value: string | number | null): string {
  const text = visibleText(String(value ?? '–')).replaceAll(/\s+/g, ' ');
  return text.length > WIDEST ? `${text.slice(0, WIDEST - 1)}…` : text;
}
