/**
 * Parses JSON; returns undefined if it is invalid, because files in a run folder can be cut off or forged.
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
