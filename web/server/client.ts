import { signal } from '@preact/signals';
import { createClient } from '../../src/client/index.js';

const SESSION_PATH = '/v1/session';

/**
 * The number of 401 responses. A session expires after a working day, so any request can get one. Wrong tokens in the
 * sign-in form are not counted, because they do not change the session.
 */
export const unauthorizedResponses = signal(0);

/** The client for the server that this page was loaded from. */
export const client = createClient({
  async fetch(input, init) {
    const response = await fetch(input, init);
    if (response.status === 401 && input !== SESSION_PATH) unauthorizedResponses.value += 1;
    return response;
  },
});

/** Creates a unique request id. Not `randomUUID`, which browsers offer only on secure connections. */
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
