/**
 * Cuts text that comes in pieces into lines, whichever way they end. Each character is looked at once; a line longer than
 * `longest` characters is a `RangeError`.
 *
 * @example
 * const split = createLineSplitter(1024 * 1024)
 * split('a\nb') // ['a']
 * split('c\r\n') // ['bc']
 */
export function createLineSplitter(longest: number): (piece: string) => string[] {
  let open: string[] = [];
  let length = 0;
  /** A line feed that follows belongs to the carriage return that ended the last line. */
  let wasReturn = false;

  function keep(text: string): void {
    length += text.length;
    if (length > longest) throw new RangeError(`A line has more than ${longest} characters.`);
    open.push(text);
  }

  return (piece) => {
    const lines: string[] = [];
    let from = wasReturn && piece.startsWith('\n') ? 1 : 0;
    if (piece !== '') wasReturn = piece.endsWith('\r');
    const ends = /\r\n?|\n/g;
    ends.lastIndex = from;
    for (let end = ends.exec(piece); end !== null; end = ends.exec(piece)) {
      keep(piece.slice(from, end.index));
      lines.push(open.join(''));
      open = [];
      length = 0;
      from = ends.lastIndex;
    }
    if (from < piece.length) keep(piece.slice(from));
    return lines;
  };
}
