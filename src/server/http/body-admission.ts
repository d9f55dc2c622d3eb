import type { Context } from 'hono';
import type { Endpoint } from '../api/index.js';
import { groupAddress } from '../security/origin.js';
import type { Caller } from '../security/tokens.js';
import { createDeadlines, createGate, createSharedLimit } from './admission.js';
import type { Gate } from './admission.js';
import { readBody, readIncomingMessage } from './read-request.js';

/** Receives bodies within three limits: per body, for all bodies together, and per caller. */
export interface BodyAdmission {
  /**
   * Starts to receive a body; throws if no slot is left. Everything it reserves is released when the request ends, at
   * the latest.
   */
  receive(
    context: Context,
    endpoint: Pick<Endpoint, 'scope' | 'maxAnonymousBytes'>,
    request: { readonly caller: Caller; readonly releaseAtEnd: (release: (() => void) | undefined) => void },
  ): IncomingBody;
}

/** A body that is being received. */
export interface IncomingBody {
  readonly bytes: Promise<Uint8Array>;
  /** Releases the slot that is held while the body arrives. */
  readonly releaseSlot: () => void;
}

/** The default maximum size of an anonymous caller's body: many times the size of a token. */
const MAX_ANONYMOUS_BYTES = 4 * 1024;
/** The maximum total size of larger bodies from anonymous callers: a few concurrent webhooks. */
const MAX_LARGE_ANONYMOUS_BYTES = 8 * 1024 * 1024;
const ANONYMOUS_MS = 5_000;
/** The maximum number of bodies received concurrently from anonymous callers. */
const MAX_ANONYMOUS_BODIES = 256;
/** All bodies together may be as large as this many bodies of the maximum size. */
const MAX_BODIES_IN_MEMORY = 8;

/**
 * Creates the body admission. Callers without a token have separate small limits, by address, so they cannot use up the
 * limits of other callers.
 */
export function createBodyAdmission({
  bodyBytes,
  requestsAtOnce,
}: {
  readonly bodyBytes: number;
  readonly requestsAtOnce: number;
}): BodyAdmission {
  const anonymousSlots = createGate(MAX_ANONYMOUS_BODIES);
  const anonymousDeadlines = createDeadlines(ANONYMOUS_MS);
  const slots = createGate(requestsAtOnce);
  const bytes = createSharedLimit(MAX_BODIES_IN_MEMORY * bodyBytes);
  const largeAnonymousBytes = createSharedLimit(MAX_LARGE_ANONYMOUS_BYTES);
  return {
    receive(context, { scope, maxAnonymousBytes = MAX_ANONYMOUS_BYTES }, { caller, releaseAtEnd }) {
      const takeSlot = (gate: Gate, key: string): (() => void) => {
        const releaseSlot = gate.enter(key);
        releaseAtEnd(releaseSlot);
        return () => releaseSlot?.();
      };
      if (scope === 'none') {
        const address = groupAddress(readIncomingMessage(context)?.socket.remoteAddress);
        const releaseSlot = takeSlot(anonymousSlots, address);
        const reservation = largeAnonymousBytes.open(address);
        releaseAtEnd(() => reservation.release());
        const body = readBody(context, {
          maxBytes: Math.min(bodyBytes, maxAnonymousBytes),
          isConfigured: bodyBytes <= maxAnonymousBytes,
          // Small bodies are always received, so large ones do not keep users from signing in.
          grow: (amount) => maxAnonymousBytes <= MAX_ANONYMOUS_BYTES || reservation.grow(amount),
        });
        return { bytes: anonymousDeadlines.within(body), releaseSlot };
      }
      const reservation = bytes.open(caller.name);
      releaseAtEnd(() => reservation.release());
      const releaseSlot = takeSlot(slots, caller.name);
      const body = readBody(context, {
        maxBytes: bodyBytes,
        isConfigured: true,
        grow: (amount) => reservation.grow(amount),
      });
      return { bytes: body, releaseSlot };
    },
  };
}
