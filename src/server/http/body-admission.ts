import type { Context } from 'hono';
import type { Endpoint } from '../../api/index.js';
import { groupAddress } from '../security/origin.js';
import type { Caller } from '../security/tokens.js';
import { createBudget, createDeadlines, createGate } from './admission.js';
import type { Gate } from './admission.js';
import { readBody, readIncomingMessage } from './read-request.js';

/** Receives bodies within limits: of each, of all together, and of each caller. */
export interface BodyAdmission {
  /** Throws where there is no place; what it holds is released with the request at the latest. */
  receive(
    context: Context,
    endpoint: Pick<Endpoint, 'scope'>,
    request: { readonly caller: Caller; readonly hold: (release: (() => void) | undefined) => void },
  ): Receiving;
}

/** A body on its way. */
export interface Receiving {
  readonly bytes: Promise<Uint8Array>;
  /** Releases the place that is kept while the body arrives. */
  readonly leave: () => void;
}

/** A token fits many times. */
const STRANGER_BYTES = 4 * 1024;
const STRANGER_MS = 5_000;
/** How many bodies of unknown callers are received at once. */
const STRANGERS_AT_ONCE = 256;
/** All bodies together may be as large as this many of the largest. */
const MAX_BODIES_IN_MEMORY = 8;

/**
 * Creates the admission of bodies. Callers without a token have separate small limits, by address, so that they cannot use
 * up those of other callers.
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
  const bytes = createBudget(MAX_BODIES_IN_MEMORY * bodyBytes);
  return {
    receive(context, { scope }, { caller, hold }) {
      const takePlace = (gate: Gate, key: string): (() => void) => {
        const leave = gate.enter(key);
        hold(leave);
        return () => leave?.();
      };
      if (scope === 'none') {
        const leave = takePlace(strangers, groupAddress(readIncomingMessage(context)?.socket.remoteAddress));
        const body = readBody(context, { maxBytes: Math.min(bodyBytes, STRANGER_BYTES), grow: () => true });
        return { bytes: strangerDeadlines.within(body), leave };
      }
      const share = bytes.open(caller.name);
      hold(() => share.release());
      const leave = takePlace(places, caller.name);
      return { bytes: readBody(context, { maxBytes: bodyBytes, grow: (amount) => share.grow(amount) }), leave };
    },
  };
}
