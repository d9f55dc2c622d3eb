const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The first characters of a text, as a copy: a slice would keep the whole text in memory for as long as it lives.
 *
 * @example
 * beginningOf('abc', 2) // 'ab'
 */
export function beginningOf(text: string, length: number): string {
  return text.length <= length ? text : decoder.decode(encoder.encode(text.slice(0, length)));
}
