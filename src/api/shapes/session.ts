import { flag, name, object, oneOf } from '../../base/index.js';

/**
 * What the cookie of a session is called. Behind https the prefix makes browsers refuse it from any other host or path, and
 * without https.
 */
export function sessionCookieName(https: boolean): string {
  return https ? '__Host-sluice_session' : 'sluice_session';
}

/** Who asks, and what they may do. */
export const sessionSchema = object({
  /** The name of a token; `local` where there are none, `anonymous` for whoever has shown none. */
  name,
  scopes: { type: 'array', items: oneOf(['read', 'run', 'decide']) },
  /** Whether the server has tokens at all: a page asks for one only then. */
  needs_token: flag,
});
