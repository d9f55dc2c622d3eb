/** A text without its escape sequences, and where they stood in the original. */
export interface PlainText {
  readonly text: string;
  /** Position in the original and length of what was taken out, in order. */
  readonly removed: readonly (readonly [position: number, length: number])[];
}

/*
 * CSI, OSC (title, links), DCS and the like, then the two-byte ones. A sequence without its end loses only its
 * first two characters, so that a torn one cannot swallow the JSON after it.
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
 * Takes the escape sequences of terminals out of a text.
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

/** Finds where characters of the plain text stood in the original, for positions that do not decrease. */
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
