/**
 * Parses JSON; undefined if the text is invalid: files in a run folder may be cut off or forged.
 *
 * @example
 * parseJson('{"seq":1') // undefined
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
