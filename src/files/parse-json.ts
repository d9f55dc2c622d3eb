/**
 * The JSON value of a text; undefined if it is none. Whatever lies in a run folder may be torn or forged.
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
