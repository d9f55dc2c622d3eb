import type { Context } from 'hono';
import type { Endpoint } from '../../api/index.js';
import { groupAddress } from '../security/origin.js';
import type { Caller } from '../security/tokens.js';
import { createBudget, createDeadlines, createGate } from './admission.js';
import { readBody, readIncomingMessage } from './read-request.js';

/** Receives bodies within limits: of each, of all together, and of each caller. */
export interface BodyAdmission {
  read(
    context: Context,
    endpoint: Pick<Endpoint, 'scope'>,
    request: { readonly caller: Caller; readonly hold: (release: (() => void) | undefined) => void },
  ): Promise<Uint8Array>;
}

/** A token fits many times. */
const STRANGER_BYTES = 4 * 1024;
const STRANGER_MS = 5_000;
/** How many bodies of unknown callers are received at once. */
const STRANGERS_AT_ONCE = 256;
/** All bodies together may be as large as so many of the largest. */
const LARGEST_AT_ONCE = 8;

/**
 * Creates the admission of bodies. Whoever may send one without a token has small limits of their own, by address, so that
 * strangers cannot take what callers need.
 */
export function createBodyAdmission({
  bodyBytes,
  requestsAtOnce,
}: {
  readonly bodyBytes: number;
  readonly requestsAtOnce: number;
}): BodyAdmission {
  const strangers = createGate(STRANGERS_AT_ONCE);
  const strangerDeadlines = createDeadlines(STRANGER_MS);
  const places = createGate(requestsAtOnce);
  const bytes = createBudget(LARGEST_AT_ONCE * bodyBytes);
  return {
    async read(context, { scope }, { caller, hold }) {
      if (scope === 'none') {
        const address = groupAddress(readIncomingMessage(context)?.socket.remoteAddress);
        return withPlace(strangers.enter(address), hold, async () =>
          strangerDeadlines.within(
            readBody(context, { maxBytes: Math.min(bodyBytes, STRANGER_BYTES), grow: () => true }),
          ),
        );
      }
      const share = bytes.open(caller.name);
      hold(() => share.release());
      return withPlace(places.enter(caller.name), hold, async () =>
        readBody(context, { maxBytes: bodyBytes, grow: (amount) => share.grow(amount) }),
      );
    },
  };
}

/** A place is kept while the body arrives. */
async function withPlace<T>(
  leave: (() => void) | undefined,
  hold: (release: (() => void) | undefined) => void,
  receive: () => Promise<T>,
): Promise<T> {
  // Released also where the request was given up meanwhile.
  hold(leave);
  try {
    return await receive();
  } finally {
    leave?.();
  }
}
