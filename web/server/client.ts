import { signal } from '@preact/signals';
import { createClient } from '../../src/client/index.js';

/** The number of 401 responses. A session expires after a working day, so any request may get one. */
export const refusals = signal(0);

/** The server this page came from. */
export const client = createClient({
  async fetch(input, init) {
    const answer = await fetch(input, init);
    if (answer.status === 401) refusals.value += 1;
    return answer;
  },
});

/** A name that no other request has. Not `randomUUID`: browsers have that only where the connection is trusted. */
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
