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
