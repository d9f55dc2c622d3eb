import { signal } from '@preact/signals';
import { client, refusals } from '../server/client.js';
import { asFailure } from '../server/use-resource.js';
import type { Failure } from '../server/use-resource.js';

/** Who looks at the page. */
export type Session =
  | { readonly state: 'asking' }
  | { readonly state: 'known'; readonly name: string; readonly scopes: readonly string[] }
  | { readonly state: 'stranger' }
  | { readonly state: 'unreachable'; readonly failure: Failure };

/** What the server knows of the one who looks. Buttons ask {@link may} before they offer anything. */
export const session = signal<Session>({ state: 'asking' });

/** Whether the one who looks may do such a thing; the server decides in the end. */
export function may(scope: 'read' | 'run' | 'decide'): boolean {
  return session.value.state === 'known' && session.value.scopes.includes(scope);
}

/** Asks the server who looks. */
export async function askWhoLooks(): Promise<void> {
  try {
    const { name, scopes } = await client.getSession();
    session.value = scopes.length === 0 ? { state: 'stranger' } : { state: 'known', name, scopes };
  } catch (error) {
    session.value = { state: 'unreachable', failure: asFailure(error) };
  }
}

/** Asks at once, and again whenever anything was refused: whoever stays longer than a session is asked for the token. */
export function keepSession(): () => void {
  return refusals.subscribe(() => void askWhoLooks());
}

/** Trades a token for a cookie; a refusal is returned, to be shown at the field. */
export async function signIn(token: string): Promise<Failure | null> {
  try {
    const { name, scopes } = await client.openSession({ body: { token } });
    session.value = { state: 'known', name, scopes };
    return null;
  } catch (error) {
    return asFailure(error);
  }
}

/** Takes the cookie back. */
export async function signOut(): Promise<void> {
  await client.closeSession().catch(() => undefined);
  await askWhoLooks();
}
