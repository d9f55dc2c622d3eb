import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';

/** The request as Node.js has it; absent where there is no port. */
export function incomingOf(context: Context): IncomingMessage | undefined {
  return ((context.env ?? {}) as { readonly incoming?: IncomingMessage }).incoming;
}
