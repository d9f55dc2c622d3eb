import { signal } from '@preact/signals';
import { client, unauthorizedResponses } from '../data/client.js';
import { asFailure, type Failure } from '../data/resource.js';

type Session =
  | { readonly state: 'loading' }
  | { readonly state: 'signed-in'; readonly name: string; readonly scopes: readonly string[] }
  | {
      readonly state: 'signed-out';
      /** Whether the server ended the session: it expired, or its token was changed or removed. */
      readonly isExpired: boolean;
    }
  | { readonly state: 'unreachable'; readonly failure: Failure };

/** The current session. Buttons check {@link hasScope} before they offer an action. */
export const session = signal<Session>({ state: 'loading' });

/** Whether the current token has a scope; the server enforces it. */
export function hasScope(scope: 'read' | 'run' | 'decide'): boolean {
  return session.value.state === 'signed-in' && session.value.scopes.includes(scope);
}

/** Whether the user signed in with a token: a local user and an anonymous one have none. */
export function canSignOut(): boolean {
  return session.value.state === 'signed-in' && session.value.name !== 'local' && session.value.name !== 'anonymous';
}

/** Whether the user is the one of a server without tokens, which cannot identify anyone. */
export function isLocal(): boolean {
  return session.value.state === 'signed-in' && session.value.name === 'local';
}

/** Counts session loads and changes, so a late response does not replace a newer session. */
let version = 0;

function replaceSession(next: Session): void {
  version += 1;
  session.value = next;
}

export async function loadSession(): Promise<void> {
  const token = consumeUrlToken();
  if (token !== null && (await signIn(token)) === null) return;
  version += 1;
  const startVersion = version;
  const loaded = await readSession();
  if (version === startVersion) session.value = loaded;
}

async function readSession(): Promise<Session> {
  try {
    const { name, scopes } = await client.getSession();
    if (scopes.length > 0) return { state: 'signed-in', name, scopes };
    // After the first of multiple 401s, the user is already signed out.
    const { value } = session;
    return {
      state: 'signed-out',
      isExpired: value.state === 'signed-in' || (value.state === 'signed-out' && value.isExpired),
    };
  } catch (error) {
    return { state: 'unreachable', failure: asFailure(error) };
  }
}

/** Reads the token from the address that `sluice serve` prints, and removes it from the address bar and the history. */
function consumeUrlToken(): string | null {
  const token = /^#token=([\w.~-]+)$/.exec(location.hash)?.[1];
  if (token === undefined) return null;
  history.replaceState(history.state, '', location.pathname + location.search);
  return token;
}

/** Opens the sign-in form for a user with read access but no token. */
export function askForToken(): void {
  replaceSession({ state: 'signed-out', isExpired: false });
}

/** Loads the session now, and again after every 401, so an expired session leads to the sign-in form. */
export function watchSession(): () => void {
  return unauthorizedResponses.subscribe(() => void loadSession());
}

/** Exchanges a token for a cookie. Returns any failure, to be shown next to the field. */
export async function signIn(token: string): Promise<Failure | null> {
  try {
    const { name, scopes } = await client.openSession({ body: { token } });
    replaceSession({ state: 'signed-in', name, scopes });
    return null;
  } catch (error) {
    return asFailure(error);
  }
}

export async function signOut(): Promise<void> {
  await client.closeSession().catch(() => undefined);
  replaceSession({ state: 'loading' });
  await loadSession();
}
