import { flag, name, object, oneOf } from '../../../base/index.js';

/**
 * Returns the name of the session cookie. With HTTPS, the prefix makes browsers accept it only over HTTPS, for this
 * host and the root path.
 */
export function getSessionCookieName(https: boolean): string {
  return https ? '__Host-sluice_session' : 'sluice_session';
}

/** The caller and its scopes. */
export const sessionSchema = object({
  /** The token's name; `local` if no tokens are configured, `anonymous` for a caller without a token. */
  name,
  scopes: { type: 'array', items: oneOf(['read', 'run', 'decide']) },
  /** Whether tokens are configured, so a page must ask for one. */
  needs_token: flag,
});
