/**
 * The JSON value a message holds, if it holds one. Only messages that show one are looked at: most are plain
 * text, and every message passes here.
 */
export function structuredPayload(_text: string): unknown {
  return undefined;
}
