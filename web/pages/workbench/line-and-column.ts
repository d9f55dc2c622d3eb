/**
 * A place in a text as editors show it, both counted from 1.
 *
 * @example
 * lineAndColumn('a\nbc', 3) // 'line 2, column 2'
 */
export function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return `line ${line}, column ${offset - before.lastIndexOf('\n')}`;
}
