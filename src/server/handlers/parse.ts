import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';
import { notBuilt } from '../not-built.js';

/** Parsing, for whoever has no JavaScript at hand. */
export function createParseHandlers(_context: ServerContext): Pick<Handlers, 'parse'> {
  return {
    parse: notBuilt,
  };
}
