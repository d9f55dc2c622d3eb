import type { Endpoint } from '../../api/index.js';
import { groupAddress } from '../security/origin.js';
import type { Caller } from '../security/tokens.js';
import { createBudget, createDeadlines, createGate } from './admission.js';
import type { Gate } from './admission.js';
import { readBody, readIncomingMessage } from './read-request.js';
import type { RequestContext } from './read-request.js';

/** Receives bodies within three limits: per body, for all bodies together, and per caller. */
export interface BodyAdmission {
  /** Starts to receive a body; throws if no slot is left. Everything that it reserves is released when the request ends, at the latest. */
  receive(
    context: RequestContext,
    endpoint: Pick<Endpoint, 'scope'>,
    request: { readonly caller: Caller; readonly hold: (release: (() => void) | undefined) => void },
  ): Receiving;
}

/** A body that is being received. */
export interface Receiving {
  readonly bytes: Promise<Uint8Array>;
  /** Releases the slot that is held while the body arrives. */
  readonly leave: () => void;
}

/** The maximum size of the body of an anonymous caller: many times the size of a token. */
const ANONYMOUS_BYTES = 4 * 1024;
const ANONYMOUS_MS = 5_000;
/** The maximum number of bodies of anonymous callers that are received at the same time. */
const ANONYMOUS_AT_ONCE = 256;
/** All bodies together may be as large as this many bodies of the maximum size. */
const MAX_BODIES_IN_MEMORY = 8;

/**
 * Creates the admission of bodies. Callers without a token have separate small limits, by address, so that they cannot use
 * up the limits of other callers.
 */
export function createBodyAdmission({
  bodyBytes,
  requestsAtOnce,
}: {
  readonly bodyBytes: number;
  readonly requestsAtOnce: number;
}): BodyAdmission {
  const anonymousSlots = createGate(ANONYMOUS_AT_ONCE);
  const anonymousDeadlines = createDeadlines(ANONYMOUS_MS);
  const slots = createGate(requestsAtOnce);
  const bytes = createBudget(MAX_BODIES_IN_MEMORY * bodyBytes);
  return {
    receive(context, { scope }, { caller, hold }) {
      const takeSlot = (gate: Gate, key: string): (() => void) => {
        const leave = gate.enter(key);
        hold(leave);
        return () => leave?.();
      };
      if (scope === 'none') {
        const leave = takeSlot(anonymousSlots, groupAddress(readIncomingMessage(context)?.socket.remoteAddress));
        const body = readBody(context, { maxBytes: Math.min(bodyBytes, ANONYMOUS_BYTES), grow: () => true });
        return { bytes: anonymousDeadlines.within(body), leave };
      }
      const share = bytes.open(caller.name);
      hold(() => share.release());
      const leave = takeSlot(slots, caller.name);
      return { bytes: readBody(context, { maxBytes: bodyBytes, grow: (amount) => share.grow(amount) }), leave };
    },
  };
}
