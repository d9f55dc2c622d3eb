import { name, object, text } from '../base/index.js';
import type { FromSchema } from '../base/index.js';

/** The answer to a permission request in an API request: one of the options. */
export const permissionChoiceSchema = object(
  { interaction_id: name, option_id: name },
  { why: { ...text, maxLength: 2000 } },
);

/** The answer to a permission request, and its author. */
export type PermissionReply = FromSchema<typeof permissionChoiceSchema> & { readonly who?: string };

/** A person's reply: a text to `user.input.required`, a choice to `permission.required`. */
export type RunReply = string | PermissionReply;

/** Starts an encoded choice. It is a control character, which people do not type; it is removed from the start of a text. */
const MARK = '\u0001';

/**
 * Encodes a reply as text, in which form it is stored until the worker of the run reads it.
 *
 * @example
 * decodeReply(encodeReply('yes')) // 'yes'
 */
export function encodeReply(reply: RunReply): string {
  if (typeof reply !== 'string') return `${MARK}${JSON.stringify(reply)}`;
  let start = 0;
  // Otherwise a text could be decoded as a choice, with any author.
  while (reply[start] === MARK) start += 1;
  return reply.slice(start);
}

/** Decodes a stored reply. */
export function decodeReply(stored: string): RunReply {
  return stored.startsWith(MARK) ? (JSON.parse(stored.slice(1)) as PermissionReply) : stored;
}
