import { setTimeout as pause } from 'node:timers/promises';
import { isSluiceError } from '../../base/index.js';
import type { Logger } from '../../base/index.js';

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;
const MOST_TRIES = 20;

/** Codes of a store that may answer the next time; what it refuses for a reason it will refuse again. */
const PASSING: readonly string[] = ['STORE_BUSY', 'STORE_FAILED', 'STORE_UNAVAILABLE'];

/**
 * Does something that only a store out of reach can keep from being done; every ten seconds at last, for about two and a
 * half minutes. Whoever is aborted tries once more and leaves the rest to reconciliation.
 */
export async function untilDone<T>(
  work: () => Promise<T>,
  { logger, signal }: { readonly logger: Logger; readonly signal?: AbortSignal | undefined },
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const isFinal = isSluiceError(error) && !PASSING.includes(error.code);
      if (signal?.aborted === true || tries === MOST_TRIES || isFinal) throw error;
      logger.warn('the store did not take it, trying again', { tries, error: String(error) });
      const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries);
      await pause(pauseMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
    }
  }
}
