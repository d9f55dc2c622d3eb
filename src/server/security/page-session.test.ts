import { expect, it } from 'vitest';
import { openListeningServer } from '../fixtures/open-listening-server.js';
import { readStream } from '../fixtures/read-stream.js';
import { startScriptedRun } from '../fixtures/scripted-run.js';

const TOKENS = [{ name: 'ada', scopes: ['read', 'run', 'decide'], value: 'ada-value' }] as const;

/** Creates a function that sends requests as one of the server's pages does: with a browser's headers and cookie. */
function createPage(url: string) {
  let cookie = '';
  return async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = {
      cookie,
      origin: url,
      'sec-fetch-site': 'same-origin',
      'sec-fetch-mode': 'cors',
      'content-type': 'application/json',
      ...(init.headers as Record<string, string> | undefined),
    };
    const response = await fetch(`${url}${path}`, { ...init, headers });
    cookie = response.headers.get('set-cookie')?.split(';')[0] ?? cookie;
    return response;
  };
}

it('a page signs in, reads, changes, follows and signs out, all with its cookie', async () => {
  const { url, store } = await openListeningServer({ settings: { tokens: TOKENS } });
  const run = await startScriptedRun(store, 'run-1');
  await run.publish();
  await run.end();
  const page = createPage(url);
  expect(await (await page('/v1/session')).json()).toEqual({ name: 'anonymous', scopes: [], needs_token: true });
  expect((await page('/v1/runs')).status).toBe(401);
  const opened = await page('/v1/session', { method: 'POST', body: JSON.stringify({ token: 'ada-value' }) });
  expect(opened.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Strict; Path=\//);
  expect(await (await page('/v1/session')).json()).toMatchObject({ name: 'ada' });
  expect((await page('/v1/runs/run-1/cancel', { method: 'POST' })).status).toBe(200);
  const events = await readStream(page('/v1/runs/run-1/events', { headers: { 'last-event-id': '1' } }));
  expect(events.at(-1)?.name).toBe('end');
  await page('/v1/session/close', { method: 'POST' });
  expect((await page('/v1/runs')).status).toBe(401);
});
