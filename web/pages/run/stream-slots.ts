import { holdLock } from './share-stream.js';
import type { Release } from './share-stream.js';

/** Streams of all tabs of a browser together: it has six connections to a server, and other requests need some. */
const MAX_STREAMS = 4;

/**
 * Takes one of the few places for a stream that all tabs share; null if all are taken. Browsers share locks between tabs only
 * where the connection is trusted; elsewhere every tab may stream.
 */
export async function takeStreamSlot(
  locks: Pick<LockManager, 'request'> | undefined = findLocks(),
): Promise<Release | null> {
  if (locks === undefined) return () => undefined;
  for (let place = 0; place < MAX_STREAMS; place += 1) {
    const release = await holdLock(locks, `sluice.stream.${place}`, { ifAvailable: true });
    if (release !== null) return release;
  }
  return null;
}

function findLocks(): LockManager | undefined {
  return globalThis.isSecureContext ? navigator.locks : undefined;
}
