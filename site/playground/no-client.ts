import { signal } from '@preact/signals';
import type * as replacedClient from '../../web/data/client.js';

/**
 * Replaces the console's client in the playground, which has no server: whatever asks for a file of a run gets an error
 * instead of a request.
 */
export const client: Readonly<Record<string, () => Promise<never>>> = new Proxy(
  {},
  { get: () => async () => Promise.reject(new Error('Not available in a pasted log.')) },
);

/** The time, as far as a page without a server knows it. */
export const getServerTime = (): number => Date.now();

/** The number of refused requests, of which there are none. */
export const unauthorizedResponses = signal(0);

/** Does not compile if the console's client exports a name that is missing here. */
export const replaced: Record<keyof typeof replacedClient, unknown> = {
  client,
  getServerTime,
  unauthorizedResponses,
};
