import { acquireLock } from './share-stream.js';
import type { Release } from './share-stream.js';

/**
 * The maximum number of streams across all tabs. A browser opens six connections per server, and other requests need
 * some.
 */
const MAX_STREAMS = 4;

/**
 * Acquires a stream slot, shared by all tabs; null if none is free. Browsers share locks between tabs only on secure
 * connections; otherwise the number of streams is not limited.
 */
export async function acquireStreamSlot(
  locks: Pick<LockManager, 'request'> | undefined = findLocks(),
): Promise<Release | null> {
  if (locks === undefined) return () => undefined;
  for (let slot = 0; slot < MAX_STREAMS; slot += 1) {
    const release = await acquireLock(locks, `sluice.stream.${slot}`, { ifAvailable: true });
    if (release !== null) return release;
  }
  return null;
}

function findLocks(): LockManager | undefined {
  return globalThis.isSecureContext ? navigator.locks : undefined;
}
