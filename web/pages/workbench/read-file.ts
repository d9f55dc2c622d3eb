/** The number of bytes decoded at a time, which takes a few milliseconds. */
const SLICE_BYTES = 1024 * 1024;

/** Reads a file as text in slices: decoding many megabytes at a time would block the page. */
export async function readFile(file: Blob): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for (let start = 0; start < file.size; start += SLICE_BYTES) {
    const bytes = await file.slice(start, start + SLICE_BYTES).arrayBuffer();
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * The maximum input length from a file or the clipboard, in bytes or UTF-16 code units. Parsing needs up to sixty times
 * as much memory, and a browser grants a page a few gigabytes at most.
 */
export const MAX_TEXT_LENGTH = 16 * 1024 * 1024;

/**
 * Explains why input of this length is not accepted; null if it is.
 *
 * @example
 * explainTooLong('log.txt', 20 * 1024 * 1024) // 'log.txt is 20 MB, but the workbench accepts only 16 MB. …'
 */
export function explainTooLong(name: string, length: number): string | null {
  if (length <= MAX_TEXT_LENGTH) return null;
  // Rounded up, so a rejected size is always shown as larger than the limit.
  const megabytes = Math.ceil((length / 1024 / 1024) * 10) / 10;
  const limit = MAX_TEXT_LENGTH / 1024 / 1024;
  return `${name} is ${megabytes} MB, but the workbench accepts only ${limit} MB. Use sluice parse on the command line.`;
}
