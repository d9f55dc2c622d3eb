/**
 * Cuts a text as tokens of a model may: three characters at most, behind every backslash, and between the halves of a
 * surrogate pair. So every escape comes in pieces.
 */
export function cutText(text: string): readonly string[] {
  return text.match(/[^\\\ud800-\udbff]{0,2}[\\\ud800-\udbff]|[^\\\ud800-\udbff]{1,3}/g) ?? [];
}

/** Cuts bytes as a network may: 64 at most, and inside every character that takes more than one. */
export function* cutBytes(bytes: Uint8Array): Generator<Uint8Array> {
  let start = 0;
  for (let end = 1; end <= bytes.length; end++) {
    const isInsideCharacter = (bytes[end - 1] ?? 0) >= 0xc0;
    if (isInsideCharacter || end - start === 64 || end === bytes.length) {
      yield bytes.subarray(start, end);
      start = end;
    }
  }
}
