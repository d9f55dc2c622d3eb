import { flag, name, object, oneOf } from '../../base/index.js';

/**
 * The name of the session cookie. Behind https the prefix makes browsers refuse it from any other host or path, and without
 * https.
 */
export function sessionCookieName(https: boolean): string {
  return https ? '__Host-sluice_session' : 'sluice_session';
}

/** The caller and its scopes. */
export const sessionSchema = object({
  /** The name of the token; `local` without tokens, `anonymous` for a caller without one. */
  name,
  scopes: { type: 'array', items: oneOf(['read', 'run', 'decide']) },
  /** Whether tokens are configured: only then a page asks for one. */
  needs_token: flag,
});
