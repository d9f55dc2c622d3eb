import { name, object, text } from '../base/index.js';
import type { FromSchema } from '../base/index.js';

/** The answer to a permission request, as an API request contains it: one of the options. */
export const permissionChoiceSchema = object(
  { interaction_id: name, option_id: name },
  { why: { ...text, maxLength: 2000 } },
);

/** The answer to a permission request, and by whom. */
export type PermissionReply = FromSchema<typeof permissionChoiceSchema> & { readonly who?: string };

/** A person's reply: a text to `user.input.required`, a choice to `permission.required`. */
export type RunReply = string | PermissionReply;

/** No text that a person writes begins with it. */
const MARK = '\u0001';

/**
 * A reply as the text that a store keeps until the worker of the run takes it.
 *
 * @example
 * decodeReply(encodeReply('yes')) // 'yes'
 */
export function encodeReply(reply: RunReply): string {
  if (typeof reply !== 'string') return `${MARK}${JSON.stringify(reply)}`;
  return reply.startsWith(MARK) ? encodeReply(reply.slice(1)) : reply;
}

/** The reply that a store has kept. */
export function decodeReply(kept: string): RunReply {
  return kept.startsWith(MARK) ? (JSON.parse(kept.slice(1)) as PermissionReply) : kept;
}
