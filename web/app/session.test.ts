import { afterEach, expect, test, vi } from 'vitest';
import { client } from '../data/client.js';
import { askForToken, loadSession, session, signIn, signOut, watchSession } from './session.js';

const ADA = { name: 'ada', scopes: ['read', 'run'] };
const ANONYMOUS = { name: 'anonymous', scopes: [] };

/** Responds to the next requests in order. */
function respondWith(...responses: readonly (Response | Promise<Response>)[]): void {
  vi.stubGlobal('location', { hash: '' });
  const remaining = [...responses];
  vi.stubGlobal('fetch', async () => remaining.shift() ?? Promise.reject(new Error('no more requests were expected')));
}

const refused = () => Response.json({ code: 'UNAUTHORIZED', detail: 'Invalid token.' }, { status: 401 });

afterEach(() => {
  vi.unstubAllGlobals();
});

test('two concurrent anonymous responses mark the session as expired', async () => {
  respondWith(Response.json(ADA), Response.json(ANONYMOUS), Response.json(ANONYMOUS));
  await loadSession();
  await Promise.all([loadSession(), loadSession()]);
  expect(session.value).toEqual({ state: 'signed-out', isExpired: true });
});

test('a later anonymous response keeps the session marked as expired', async () => {
  respondWith(Response.json(ADA), Response.json(ANONYMOUS), Response.json(ANONYMOUS));
  await loadSession();
  await loadSession();
  await loadSession();
  expect(session.value).toEqual({ state: 'signed-out', isExpired: true });
});

test('a late response does not end a newer session', async () => {
  let respond: (response: Response) => void = () => undefined;
  const lateResponse = new Promise<Response>((resolve) => {
    respond = resolve;
  });
  respondWith(lateResponse, Response.json(ADA));
  const loading = loadSession();
  expect(await signIn('token-of-ada')).toBeNull();
  respond(Response.json(ANONYMOUS));
  await loading;
  expect(session.value).toMatchObject({ state: 'signed-in', name: 'ada' });
});

test('a user who signs out gets no message that the session has ended', async () => {
  respondWith(Response.json(ADA), new Response(null, { status: 204 }), Response.json(ANONYMOUS));
  await loadSession();
  await signOut();
  expect(session.value).toEqual({ state: 'signed-out', isExpired: false });
});

test('a rejected request reloads the session; a rejected token does not', async () => {
  respondWith(Response.json(ADA));
  const stop = watchSession();
  await vi.waitFor(() => expect(session.value.state).toBe('signed-in'));
  askForToken();
  respondWith(refused());
  expect(await signIn('wrong')).toMatchObject({ message: 'Invalid token.' });
  expect(session.value).toEqual({ state: 'signed-out', isExpired: false });
  respondWith(refused(), Response.json(ADA));
  await expect(client.listRuns({ query: {} })).rejects.toThrow('Invalid token.');
  await vi.waitFor(() => expect(session.value.state).toBe('signed-in'));
  stop();
});
