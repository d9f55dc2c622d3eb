/** Streams of all tabs of a browser together: it has six connections to a server, and other requests need some. */
const MOST_STREAMS = 4;

/** Gives back the place of a stream. */
export type ReleaseSlot = () => void;

/**
 * Takes one of the few places for a stream that all tabs share; null if all are taken. Browsers share locks between tabs only
 * where the connection is trusted; elsewhere every tab may stream.
 */
export async function takeStreamSlot(
  locks: Pick<LockManager, 'request'> | undefined = findLocks(),
): Promise<ReleaseSlot | null> {
  if (locks === undefined) return () => undefined;
  for (let place = 0; place < MOST_STREAMS; place += 1) {
    const release = await tryLock(locks, `sluice.stream.${place}`);
    if (release !== null) return release;
  }
  return null;
}

function findLocks(): LockManager | undefined {
  return globalThis.isSecureContext ? navigator.locks : undefined;
}

/** Holds a lock until it is released; null if another tab holds it. */
async function tryLock(locks: Pick<LockManager, 'request'>, name: string): Promise<ReleaseSlot | null> {
  return new Promise((resolve, reject) => {
    const held = locks.request(name, { ifAvailable: true }, async (lock) => {
      if (lock === null) {
        resolve(null);
        return;
      }
      await new Promise<void>((release) => {
        resolve(() => release());
      });
    });
    held.catch(reject);
  });
}
