import { signal } from '@preact/signals';
import { client, refusals } from '../server/client.js';
import { asFailure } from '../server/use-resource.js';
import type { Failure } from '../server/use-resource.js';

/** The person signed in to the console. */
export type Session =
  | { readonly state: 'loading' }
  | { readonly state: 'signed-in'; readonly name: string; readonly scopes: readonly string[] }
  | {
      readonly state: 'signed-out';
      /** It was open until now: the token was changed or removed. */
      readonly isExpired: boolean;
    }
  | { readonly state: 'unreachable'; readonly failure: Failure };

/** The current session. Buttons check {@link hasScope} before they offer an action. */
export const session = signal<Session>({ state: 'loading' });

/** Whether the current token has a scope; the server enforces it. */
export function hasScope(scope: 'read' | 'run' | 'decide'): boolean {
  return session.value.state === 'signed-in' && session.value.scopes.includes(scope);
}

/** Loads the session from the server. */
export async function loadSession(): Promise<void> {
  try {
    const token = takeToken();
    if (token !== null && (await signIn(token)) === null) return;
    const { name, scopes } = await client.getSession();
    const isExpired = session.value.state === 'signed-in';
    session.value = scopes.length === 0 ? { state: 'signed-out', isExpired } : { state: 'signed-in', name, scopes };
  } catch (error) {
    session.value = { state: 'unreachable', failure: asFailure(error) };
  }
}

/**
 * The token in the address, as `sluice serve` prints it: behind the `#`, which browsers do not send. It is taken out, so that
 * it stays in neither the address bar nor the history.
 */
function takeToken(): string | null {
  const token = /^#token=([\w.~-]+)$/.exec(location.hash)?.[1];
  if (token === undefined) return null;
  history.replaceState(history.state, '', location.pathname + location.search);
  return token;
}

/** Lets the person sign in who may only read without a token. */
export function askForToken(): void {
  session.value = { state: 'signed-out', isExpired: false };
}

/** Loads the session now, and again after every 401: an expired session leads to the sign-in form. */
export function watchSession(): () => void {
  return refusals.subscribe(() => void loadSession());
}

/** Trades a token for a cookie; a refusal is returned, to be shown at the field. */
export async function signIn(token: string): Promise<Failure | null> {
  try {
    const { name, scopes } = await client.openSession({ body: { token } });
    session.value = { state: 'signed-in', name, scopes };
    return null;
  } catch (error) {
    return asFailure(error);
  }
}

/** Takes the cookie back. */
export async function signOut(): Promise<void> {
  await client.closeSession().catch(() => undefined);
  session.value = { state: 'loading' };
  await loadSession();
}
