import { parse } from '../../json/index.js';

/** A fenced block that begins like JSON. */
const FENCED_JSON = /```(?:json|jsonc|json5)?[ \t]*\r?\n\s*[{[]/iu;

/** Longer messages are not searched: whoever wants their value has the text. */
const MAX_LENGTH = 4 * 1024 * 1024;

/**
 * The JSON object or array a message holds: the whole text, a `<json>` block or a fenced one; undefined if there is
 * none. Every message passes here and most are plain text, so only those that show one are read.
 *
 * @example
 * structuredPayload('Done.\n```json\n{"ok":true}\n```') // { ok: true }
 */
export function structuredPayload(text: string): unknown {
  return mayHoldPayload(text) ? findPayload(text) : undefined;
}

/** The same for a text that may have its JSON anywhere, also glued to the words before it. */
export function findPayload(text: string): unknown {
  if (text.length > MAX_LENGTH || !/[{[]/u.test(text)) return undefined;
  // Strictly: a payload is shown beside the text, and a wrong one is worse than none.
  const result = parse(text, undefined, { profile: text.includes('<json>') ? 'tagged' : 'generic' });
  return result.ok && typeof result.value === 'object' && result.value !== null ? result.value : undefined;
}

function mayHoldPayload(text: string): boolean {
  const first = text.trimStart().charAt(0);
  if (first === '{' || first === '[') return true;
  return text.includes('<json>') || (text.includes('```') && FENCED_JSON.test(text));
}
