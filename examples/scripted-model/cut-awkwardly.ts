/**
 * Splits text the way a model's tokens can: into at most three characters, after every backslash, and between the
 * halves of a surrogate pair. So every escape is split.
 */
export function cutText(text: string): readonly string[] {
  return text.match(/[^\\\ud800-\udbff]{0,2}[\\\ud800-\udbff]|[^\\\ud800-\udbff]{1,3}/g) ?? [];
}

/** Splits bytes the way a network can: into at most 64, and inside every multi-byte character. */
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
