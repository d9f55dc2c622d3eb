/** As many bytes are decoded at a time as take a page a few milliseconds. */
const SLICE = 1024 * 1024;

/** A file as text, slice by slice: to decode many megabytes at once would hold up the page. */
export async function readFile(file: Blob): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for (let start = 0; start < file.size; start += SLICE) {
    const bytes = await file.slice(start, start + SLICE).arrayBuffer();
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * The most that is taken from a file or the clipboard, in bytes or UTF-16 units. Reading keeps up to sixty times as much:
 * a browser gives a page a few gigabytes at most.
 */
export const MAX_TEXT_LENGTH = 16 * 1024 * 1024;

/**
 * Says why a text of this length is not taken; null for one that is.
 *
 * @example
 * explainTooLong('log.txt', 20 * 1024 * 1024) // 'log.txt has 20 MB; the workbench accepts up to 16 MB. …'
 */
export function explainTooLong(name: string, length: number): string | null {
  if (length <= MAX_TEXT_LENGTH) return null;
  // Rounded up: what is refused never looks as if it would fit.
  const has = Math.ceil((length / 1024 / 1024) * 10) / 10;
  return `${name} has ${has} MB; the workbench accepts up to ${MAX_TEXT_LENGTH / 1024 / 1024} MB. On the command line, sluice parse accepts more.`;
}
