/** Text without its escape sequences, and where they were in the original. */
export interface PlainText {
  readonly text: string;
  /** The original position and the length of each removed sequence, in order. */
  readonly removed: readonly (readonly [position: number, length: number])[];
}

/*
 * CSI, OSC (title, links), DCS and similar sequences, then two-byte sequences. Only the first two characters of an
 * unterminated sequence are removed, so the JSON after it is kept.
 */
const ESCAPES = new RegExp(
  [
    String.raw`\u001b\[[0-?]*[ -/]*[@-~]`,
    String.raw`\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)`,
    String.raw`\u001b[PX^_][^\u001b]*\u001b\\`,
    String.raw`\u001b[ -/]*[0-~]?`,
    String.raw`\u009b[0-?]*[ -/]*[@-~]`,
  ].join('|'),
  'g',
);

/**
 * Removes terminal escape sequences from a string.
 *
 * @example
 * stripEscapes('\u001b[32mgreen\u001b[0m').text // 'green'
 */
export function stripEscapes(text: string): PlainText {
  if (!text.includes('\u001b') && !text.includes('\u009b')) return { text, removed: [] };
  const removed: (readonly [number, number])[] = [];
  const plain = text.replace(ESCAPES, (sequence: string, position: number) => {
    removed.push([position, sequence.length]);
    return '';
  });
  return { text: plain, removed };
}

/** Returns a function that maps positions in the plain text to the original; positions must not decrease. */
export function createOriginalCursor({ removed }: PlainText): (position: number) => number {
  let shift = 0;
  let next = 0;
  return (position) => {
    for (;;) {
      const sequence = removed[next];
      if (sequence === undefined || sequence[0] > position + shift) return position + shift;
      shift += sequence[1];
      next++;
    }
  };
}
