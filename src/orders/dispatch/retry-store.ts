import { setTimeout as pause } from 'node:timers/promises';
import { isSluiceError, type Logger } from '../../base/index.js';
import { isOutage } from '../../store/ports/index.js';

const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 10_000;
const MAX_TRIES = 65;

/**
 * Calls a store and retries while it is unavailable, with growing delays of up to ten seconds, for about ten minutes.
 * After the signal is aborted it tries one last time; the rest is left to reconciliation.
 */
export async function retryStore<T>(
  work: () => Promise<T>,
  { logger, signal }: { readonly logger: Logger; readonly signal?: AbortSignal | undefined },
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const isFinal = isSluiceError(error) && !isOutage(error);
      if (signal?.aborted === true || tries === MAX_TRIES || isFinal) throw error;
      logger.warn('store not available, will retry', { tries, error: String(error) });
      const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries);
      await pause(pauseMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
    }
  }
}
