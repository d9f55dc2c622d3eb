import { signal } from '@preact/signals';
import { createClient } from '../../src/server/client/index.js';

const SESSION_PATH = '/v1/session';

/** The number of 401 responses: a session can expire at any request. Wrong tokens in the form are not counted. */
export const unauthorizedResponses = signal(0);

/** How far the server's clock is ahead of the browser's, in milliseconds; accurate to a second. */
let clockOffsetMs = 0;

export function getServerTime(): number {
  return Date.now() + clockOffsetMs;
}

export const client = createClient({
  async fetch(input, init) {
    const response = await (typeof input === 'string' ? fetchUnlessKnown(input, init) : fetch(input, init));
    if (response.status === 401 && input !== SESSION_PATH) unauthorizedResponses.value += 1;
    const sentAt = Date.parse(response.headers.get('date') ?? '');
    if (!Number.isNaN(sentAt)) clockOffsetMs = sentAt - Date.now();
    return response;
  },
});

/** The last responses with a tag, by address: a page polls a few addresses again and again. */
const known = new Map<string, Readonly<{ tag: string; body: string }>>();
const MAX_KNOWN = 12;
const MAX_KNOWN_LENGTH = 500_000;

/** Fetches; a response that the server reports as unchanged is the last one again, and its body is not sent. */
async function fetchUnlessKnown(address: string, init: RequestInit = {}): Promise<Response> {
  const last = init.method === 'GET' ? known.get(address) : undefined;
  const headers = new Headers(init.headers);
  if (last !== undefined) headers.set('if-none-match', last.tag);
  const response = await fetch(address, { ...init, headers });
  if (last !== undefined && response.status === 304) {
    // A browser considers a response that is not read to its end as aborted.
    await response.text();
    return new Response(last.body, { headers: response.headers });
  }
  const tag = response.headers.get('etag');
  if (tag === null || !response.ok) return response;
  const body = await response.text();
  known.delete(address);
  if (body.length <= MAX_KNOWN_LENGTH) known.set(address, { tag, body });
  for (const oldest of known.keys()) if (known.size > MAX_KNOWN) known.delete(oldest);
  return new Response(body, response);
}
