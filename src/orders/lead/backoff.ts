/** How failed deliveries are spaced out and when they are given up. */
export interface Backoff {
  /** The pause after the first failure; doubled after each further one. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** After so many tries a message is dead and a person is asked. */
  readonly maxTries: number;
}

/** Gives up after half an hour or an hour, as chance has it. */
export const DEFAULT_BACKOFF: Backoff = { firstMs: 2000, longestMs: 3_600_000, maxTries: 12 };

/**
 * How long to wait after try number `tries` has failed. Jitter over the whole range keeps many messages that failed
 * together from coming back together; `leastMs` lets a request whose answer was lost arrive before it is looked for.
 *
 * @example
 * pauseAfter({ tries: 1, leastMs: 0, random: () => 0.5, backoff: DEFAULT_BACKOFF }) // 1000
 */
export function pauseAfter(failure: {
  readonly tries: number;
  readonly leastMs: number;
  readonly random: () => number;
  readonly backoff: Backoff;
}): number {
  const { tries, leastMs, random, backoff } = failure;
  const range = Math.min(backoff.longestMs, backoff.firstMs * 2 ** Math.min(tries - 1, 40));
  return Math.max(1, Math.round(leastMs + random() * range));
}
