import { SinkError } from '../sink-error.js';
import { checkStatus } from './check-status.js';
import { sendRequest } from './send-request.js';

/** What bounds every request of a forge's client. */
interface FetchBounds {
  /** As it is called in messages. */
  readonly name: string;
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal;
  readonly clock: () => number;
}

/**
 * `fetch` for the clients of forges, over our own transport: bounded in time and size, no silent repetition, failures as
 * typed errors. The server's address is the operator's choice, so private ones are allowed.
 */
export function createFetch(bounds: FetchBounds): typeof globalThis.fetch {
  const { name, timeoutMs, maxResponseBytes, signal, clock } = bounds;
  return async (input, init = {}) => {
    const method = init.method ?? 'GET';
    if (method !== 'GET' && method !== 'POST') throw new TypeError(`${method} is not used by sinks`);
    const answer = await sendRequest({
      method,
      url: input instanceof Request ? input.url : String(input),
      headers: { 'user-agent': 'sluice', ...Object.fromEntries(new Headers(init.headers)) },
      ...(typeof init.body === 'string' ? { body: init.body } : {}),
      timeoutMs,
      maxResponseBytes,
      allowPrivateAddresses: true,
      signal,
    });
    checkStatus(answer, name, clock());
    try {
      JSON.parse(answer.body);
    } catch (error) {
      throw new SinkError(
        'SINK_ANSWER_UNREADABLE',
        `${name} answered with something that is not JSON. Is the base URL that of an API?`,
        {
          cause: error,
        },
      );
    }
    return new Response(answer.body, {
      status: answer.status,
      headers: { 'content-type': 'application/json; charset=utf-8' },
    });
  };
}
