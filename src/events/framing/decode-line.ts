/** From this length on a line is read whole or not at all: the way back from its characters to its bytes is not kept. */
export const LONG_LINE_BYTES = 512 * 1024;

/** The text of a line, and how it came about. */
export interface DecodedLine {
  readonly text: string;
  /** Whether the bytes are UTF-8. A long line that holds the substitute character itself is taken for damaged. */
  readonly isUtf8: boolean;
  /** The bytes, where they are needed to find the way back: a short line that is not UTF-8. */
  readonly bytes: Uint8Array | null;
}

const SUBSTITUTE = '\uFFFD';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const strictDecoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });

/** Decodes the bytes of one line. */
export function decodeLine(bytes: Uint8Array): DecodedLine {
  return judgeLine(decoder.decode(bytes), bytes);
}

/** What is to be said about a line that is decoded already. */
export function judgeLine(text: string, bytes: Uint8Array): DecodedLine {
  if (!text.includes(SUBSTITUTE)) return { text, isUtf8: true, bytes: null };
  if (bytes.length >= LONG_LINE_BYTES) return { text, isUtf8: false, bytes: null };
  const isValid = isUtf8(bytes);
  return { text, isUtf8: isValid, bytes: isValid ? null : bytes };
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    strictDecoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}
