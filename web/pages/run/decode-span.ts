/** A byte order mark is a byte like others here: it is shown. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Bytes before a span that are needed to know where its first character begins. */
export const BYTES_BEFORE = 3;

/**
 * The text of a span of bytes, cut so that a character which lies on the edge belongs to the span that follows: the texts of
 * spans that touch are together the text of all.
 *
 * `bytes` begins `before` bytes ahead of the span (at most {@link BYTES_BEFORE} are looked at) and ends with it.
 */
export function decodeSpan(bytes: Uint8Array, before: number): string {
  const from = characterStart(bytes, before);
  const to = characterStart(bytes, bytes.length);
  return decoder.decode(bytes.subarray(from, Math.max(from, to)));
}

/** The text of a span behind which nothing comes: a character that was cut off stays, as a substitute. */
export function decodeLastSpan(bytes: Uint8Array, before: number): string {
  return decoder.decode(bytes.subarray(characterStart(bytes, before)));
}

/** Where the character begins that an edge at `at` would cut; `at` itself if it cuts none. */
function characterStart(bytes: Uint8Array, at: number): number {
  for (let back = 1; back <= BYTES_BEFORE && back <= at; back += 1) {
    const byte = bytes[at - back] ?? 0;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    return lengthOf(byte) > back ? at - back : at;
  }
  return at;
}

/** How many bytes a character has that begins with this one. */
function lengthOf(byte: number): number {
  if (byte >= 0xf0) return 4;
  if (byte >= 0xe0) return 3;
  return byte >= 0xc0 ? 2 : 1;
}
