import { signal } from '@preact/signals';
import { createClient } from '../../src/server/client/index.js';

const SESSION_PATH = '/v1/session';

/** The number of 401 responses: a session can expire at any request. Wrong tokens in the form are not counted. */
export const unauthorizedResponses = signal(0);

/** How far the server's clock is ahead of the browser's, in milliseconds; accurate to a second. */
let clockOffsetMs = 0;

/** Returns the time on the server. */
export function getServerTime(): number {
  return Date.now() + clockOffsetMs;
}

/** The client for the server that this page was loaded from. */
export const client = createClient({
  async fetch(input, init) {
    const response = await fetch(input, init);
    if (response.status === 401 && input !== SESSION_PATH) unauthorizedResponses.value += 1;
    const sentAt = Date.parse(response.headers.get('date') ?? '');
    if (!Number.isNaN(sentAt)) clockOffsetMs = sentAt - Date.now();
    return response;
  },
});

/** Creates a unique request id. Not `randomUUID`, which browsers offer only on secure connections. */
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
