import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../runs/logger/logger.js';

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;
const MOST_TRIES = 20;

/**
 * Does something that only a store out of reach can keep from being done; every ten seconds at last, for about two and a
 * half minutes. Whoever is aborted tries once more and leaves the rest to reconciliation.
 */
export async function untilDone<T>(
  work: () => Promise<T>,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || tries === MOST_TRIES) throw error;
      logger.warn('the store did not take it, trying again', { tries, error: String(error) });
      await pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries), undefined, { signal }).catch(
        () => undefined,
      );
    }
  }
}
