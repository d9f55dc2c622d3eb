/**
 * Rows as CSV (RFC 4180) with a heading. A cell that a spreadsheet would take for a formula is led by an apostrophe:
 * what workers wrote is not trusted.
 *
 * @example
 * renderCsv([{ a: 1, b: 'x,y' }], ['a', 'b']) // 'a,b\r\n1,"x,y"\r\n'
 */
export function renderCsv<Row extends object>(rows: readonly Row[], fields: readonly (keyof Row & string)[]): string {
  const lines = [fields, ...rows.map((row) => fields.map((field) => cellOf(row[field])))];
  return lines.map((cells) => `${cells.map(quote).join(',')}\r\n`).join('');
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function quote(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
