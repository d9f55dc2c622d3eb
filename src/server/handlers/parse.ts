import type { Handlers } from '../http/request-checks.js';
import type { Parsing } from '../parse/create-parsing.js';

/** Creates the handler that parses agent output. */
export function createParseHandlers(parsing: Parsing): Pick<Handlers, 'parse'> {
  return {
    parse: ({ body, caller }) => parsing.answer(body, caller.name),
  };
}
