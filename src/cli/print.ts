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

interface OpenContainer {
  readonly close: ']' | '}';
  readonly entries: Iterator<readonly [key: string | undefined, value: unknown]>;
  isEmpty: boolean;
}

/**
 * Renders a value as JSON. Unlike `JSON.stringify`, it writes a bigint as a number, has no depth limit, and escapes
 * control characters that a terminal might interpret.
 */
export function renderJson(value: unknown, indent = 0): string {
  const parts: string[] = [];
  const open: OpenContainer[] = [];
  const breakLine = (): void => {
    if (indent > 0) parts.push('\n', ' '.repeat(indent * open.length));
  };
  const renderStart = (item: unknown): void => {
    const container = openContainer(item);
    if (container === undefined) {
      parts.push(renderScalar(item));
      return;
    }
    parts.push(container.close === ']' ? '[' : '{');
    open.push(container);
  };

  renderStart(value);
  for (let container = open.at(-1); container !== undefined; container = open.at(-1)) {
    const next = container.entries.next();
    if (next.done === true) {
      open.pop();
      if (!container.isEmpty) breakLine();
      parts.push(container.close);
      continue;
    }
    const [key, item] = next.value;
    if (!container.isEmpty) parts.push(',');
    container.isEmpty = false;
    breakLine();
    if (key !== undefined) parts.push(renderScalar(key), indent > 0 ? ': ' : ':');
    renderStart(item);
  }
  return parts.join('');
}

function openContainer(value: unknown): OpenContainer | undefined {
  if (Array.isArray(value)) return { close: ']', entries: listElements(value), isEmpty: true };
  if (typeof value === 'object' && value !== null) return { close: '}', entries: listMembers(value), isEmpty: true };
  return undefined;
}

function* listElements(array: readonly unknown[]): Generator<readonly [undefined, unknown]> {
  for (const element of array) yield [undefined, element];
}

function* listMembers(object: object): Generator<readonly [string, unknown]> {
  for (const [key, member] of Object.entries(object)) if (member !== undefined) yield [key, member];
}

function renderScalar(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'string') return escapeControls(JSON.stringify(value));
  return JSON.stringify(value) ?? 'null';
}

/** Escapes control characters that `JSON.stringify` leaves in JSON text and that a terminal might interpret. */
export function escapeControls(json: string): string {
  return json.replaceAll(/[\u007F-\u009F\u2028\u2029]/g, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
