/** What spreadsheets take for a formula at the beginning of a cell, also as wide characters. */
const FORMULA = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

/**
 * A value as a cell of a CSV file (RFC 4180). Numbers stay numbers. Text is quoted, and text that a spreadsheet would run
 * as a formula gets an apostrophe, which shows it as text: agents write some of it.
 *
 * @example
 * csvCell('=1+1') // `"'=1+1"`
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return `"${harmless.replaceAll('\0', '\u{FFFD}').replaceAll('"', '""')}"`;
}
