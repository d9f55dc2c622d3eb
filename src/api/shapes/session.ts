import { flag, name, object, oneOf } from '../../events/protocol/schema-type.js';

/** Who asks, and what they may do. */
export const sessionSchema = object({
  /** The name of a token; `local` where there are none, `anonymous` for whoever has shown none. */
  name,
  scopes: { type: 'array', items: oneOf(['read', 'run', 'decide']) },
  /** Whether the server has tokens at all: a page asks for one only then. */
  needs_token: flag,
});
