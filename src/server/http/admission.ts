import type { Context } from 'hono';
import { RequestError } from './problem.js';
import type { Endpoint } from '../api/index.js';
import { groupAddress } from '../security/origin.js';
import type { Caller } from '../security/tokens.js';
import type { ServerSettings } from '../server-settings.js';
import { readBody, readIncomingMessage } from './read-request.js';

/**
 * Creates a limit shared by all callers: a number of slots or bytes. A caller may reserve at most as much as it leaves
 * for others: the first half of the limit, the next half of what remains, and so on, so none can lock out the others. A
 * caller's first request may reserve everything that is left.
 */
export function createSharedLimit(limit: number) {
  const byKey = new Map<string, number>();
  let used = 0;

  /** Adds to what a caller uses; a negative amount releases. */
  function use(key: string, amount: number): void {
    const usedByCaller = (byKey.get(key) ?? 0) + amount;
    used += amount;
    if (usedByCaller > 0) byKey.set(key, usedByCaller);
    else byKey.delete(key);
  }

  return {
    /** Starts a reservation for one of the caller's requests. */
    open(key: string) {
      let reserved = 0;
      // A body can still arrive after its request has timed out. Its bytes would never be released.
      let isReleased = false;
      return {
        /** Reserves more. Returns false and reserves nothing if there is not enough left, or after the release. */
        grow(amount: number): boolean {
          const usedByCaller = byKey.get(key) ?? 0;
          const remaining = limit - used - amount;
          const isTooMuch = remaining < 0 || (usedByCaller > 0 && usedByCaller + amount > remaining);
          if (isReleased || isTooMuch) return false;
          use(key, amount);
          reserved += amount;
          return true;
        },
        release(): void {
          if (!isReleased) use(key, -reserved);
          isReleased = true;
        },
      };
    },
  };
}

export type Gate = ReturnType<typeof createGate>;

/** Creates a gate for at most `limit` concurrent requests. */
export function createGate(limit: number) {
  const slots = createSharedLimit(limit);
  return {
    /** Takes a slot and returns the function that releases it; undefined if no slot is available to the caller. */
    enter(key: string) {
      const reservation = slots.open(key);
      return reservation.grow(1) ? () => reservation.release() : undefined;
    },
  };
}

/** Waits for `work`; throws `REQUEST_TIMED_OUT` if it takes longer than `ms`. Work that has started is not undone. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const message = `The request took longer than ${ms / 1000} seconds. Try again later.`;
    timer = setTimeout(() => reject(new RequestError('REQUEST_TIMED_OUT', message)), ms);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

export type BodyAdmission = ReturnType<typeof createBodyAdmission>;

/** A request whose caller may use the endpoint. */
export interface AdmittedRequest {
  readonly caller: Caller;
  readonly requestId: string;
  /** Registers the function that releases a slot, to be called after the response; throws if the caller got no slot. */
  readonly releaseAtEnd: (release: (() => void) | undefined) => void;
  readonly keepUntilSent: () => void;
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
 * Receives bodies within three limits: per body, for all bodies together, and per caller. Callers without a token have
 * separate small limits, by address, so they cannot use up those of others.
 */
export function createBodyAdmission({
  bodyBytes,
  requestsAtOnce,
}: Pick<ServerSettings['limits'], 'bodyBytes' | 'requestsAtOnce'>) {
  const anonymousSlots = createGate(MAX_ANONYMOUS_BODIES);
  const slots = createGate(requestsAtOnce);
  const bytes = createSharedLimit(MAX_BODIES_IN_MEMORY * bodyBytes);
  const largeAnonymousBytes = createSharedLimit(MAX_LARGE_ANONYMOUS_BYTES);
  return {
    /**
     * Starts to receive a body; throws if no slot is left. Everything it reserves is released when the request ends, at
     * the latest. `releaseSlot` releases the slot that is held while the body arrives.
     */
    receive(
      context: Context,
      { scope, maxAnonymousBytes = MAX_ANONYMOUS_BYTES }: Pick<Endpoint, 'scope' | 'maxAnonymousBytes'>,
      { caller, releaseAtEnd }: Pick<AdmittedRequest, 'caller' | 'releaseAtEnd'>,
    ) {
      const isAnonymous = scope === 'none';
      const key = isAnonymous ? groupAddress(readIncomingMessage(context)?.socket.remoteAddress) : caller.name;
      const releaseSlot = (isAnonymous ? anonymousSlots : slots).enter(key);
      releaseAtEnd(releaseSlot);
      const reservation = (isAnonymous ? largeAnonymousBytes : bytes).open(key);
      releaseAtEnd(() => reservation.release());
      const maxBytes = isAnonymous ? Math.min(bodyBytes, maxAnonymousBytes) : bodyBytes;
      // Small bodies are always received, so large ones do not keep users from signing in.
      const isCounted = !isAnonymous || maxAnonymousBytes > MAX_ANONYMOUS_BYTES;
      const body = readBody(context, {
        maxBytes,
        isConfigured: maxBytes === bodyBytes,
        grow: (amount) => !isCounted || reservation.grow(amount),
      });
      return { bytes: isAnonymous ? within(ANONYMOUS_MS, body) : body, releaseSlot: () => releaseSlot?.() };
    },
  };
}
