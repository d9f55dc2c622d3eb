/**
 * Walks along a decoded line and knows the byte of each position. Positions must not decrease, so a line with a
 * million values costs one walk.
 */
export interface ByteCursor {
  /** How many bytes stand before a position. */
  byteAt(position: number): number;
}

/**
 * `invalid` are the line's bytes where the decoder had to substitute some. There the ASCII characters, which never
 * take part in a substitution, are counted on both sides: exact if one of them stands before or at the position.
 */
export function createByteCursor(text: string, invalid: Uint8Array | null): ByteCursor {
  return invalid === null ? utf8Cursor(text) : countingCursor(text, invalid);
}

function utf8Cursor(text: string): ByteCursor {
  let index = 0;
  let bytes = 0;
  return {
    byteAt(position) {
      for (; index < position; index++) {
        const unit = text.charCodeAt(index);
        // A surrogate is half of a four-byte character.
        const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
        bytes += unit < 0x80 ? 1 : unit < 0x800 || isSurrogate ? 2 : 3;
      }
      return bytes;
    },
  };
}

function countingCursor(text: string, bytes: Uint8Array): ByteCursor {
  let index = 0;
  let byte = 0;
  /** ASCII characters seen in the text and not yet in the bytes. */
  let ahead = 0;
  return {
    byteAt(position) {
      for (; index < position; index++) if (text.charCodeAt(index) < 0x80) ahead++;
      for (; ahead > 0 && byte < bytes.length; byte++) if ((bytes[byte] ?? 0) < 0x80) ahead--;
      const isAfterAscii = position > 0 && text.charCodeAt(position - 1) < 0x80;
      if (isAfterAscii) return byte;
      while (byte < bytes.length && (bytes[byte] ?? 0) >= 0x80) byte++;
      return byte;
    },
  };
}
