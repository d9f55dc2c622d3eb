import type { Context } from 'hono';
import { incomingOf } from './incoming-of.js';

/**
 * A header of the request. Behind a port it is read where Node.js has put it: making the headers of a `Request` costs as
 * much as answering it.
 */
export function headerOf(context: Context, name: string): string | undefined {
  const incoming = incomingOf(context);
  if (incoming === undefined) return context.req.header(name);
  const value = incoming.headers[name];
  return typeof value === 'string' ? value : value?.[0];
}
