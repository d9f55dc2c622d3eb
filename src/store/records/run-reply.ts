import { name, object, text } from '../../base/index.js';
import type { FromSchema } from '../../base/index.js';

/** The answer to a permission request, as sent to the API: one of the options. */
export const permissionChoiceSchema = object(
  { interaction_id: name, option_id: name },
  { why: { ...text, maxLength: 2000 } },
);

/** The answer to a permission request, and its author. */
export type PermissionReply = FromSchema<typeof permissionChoiceSchema> & { readonly who?: string };

/** A user's reply: text for `user.input.required`, a choice for `permission.required`. */
export type RunReply = string | PermissionReply;

/**
 * Prefix of an encoded choice: a control character that users do not type. It is stripped from the start of text
 * replies.
 */
const CHOICE_PREFIX = '\u0001';

/**
 * Encodes a reply as the string that is stored until the run's worker reads it.
 *
 * @example
 * decodeReply(encodeReply('yes')) // 'yes'
 */
export function encodeReply(reply: RunReply): string {
  if (typeof reply !== 'string') return `${CHOICE_PREFIX}${JSON.stringify(reply)}`;
  let start = 0;
  // Otherwise text could be decoded as a choice by any author.
  while (reply[start] === CHOICE_PREFIX) start += 1;
  return reply.slice(start);
}

/** Decodes a stored reply. */
export function decodeReply(stored: string): RunReply {
  return stored.startsWith(CHOICE_PREFIX) ? (JSON.parse(stored.slice(1)) as PermissionReply) : stored;
}
