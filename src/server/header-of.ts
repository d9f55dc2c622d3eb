import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';

/**
 * A header of the request. Behind a port it is read where Node.js has put it: making the headers of a `Request` costs as
 * much as answering it.
 */
export function headerOf(context: Context, name: string): string | undefined {
  const { incoming } = (context.env ?? {}) as { readonly incoming?: IncomingMessage };
  if (incoming === undefined) return context.req.header(name);
  const value = incoming.headers[name];
  return typeof value === 'string' ? value : value?.[0];
}
