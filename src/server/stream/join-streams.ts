import type { Outlet } from './outlet.js';
import type { StartStream } from './stream-hub.js';

/** Both logs of a run on one connection: a browser has six connections to a server, for all its windows. */
export const BOTH_PROTOCOLS = 'fcmp,rasp';

/**
 * Sends several streams over one connection, which ends with the last of them. A stream that has nothing to send is only
 * ended, so that a reader can count the ends; undefined if none has anything to send.
 */
export function joinStreams(starts: readonly (StartStream | undefined)[], endText: string): StartStream | undefined {
  if (starts.every((start) => start === undefined)) return undefined;
  return (outlet) => {
    let open = starts.length;
    const shares = starts.map(() =>
      shareOutlet(outlet, () => {
        open -= 1;
        if (open === 0) outlet.end();
      }),
    );
    for (const [index, share] of shares.entries()) {
      const start = starts[index];
      if (start === undefined) {
        share.write(Buffer.from(endText));
        share.end();
      } else {
        start(share);
      }
    }
  };
}

/** The connection as seen by one of several streams. */
function shareOutlet(outlet: Outlet, onEnd: () => void): Outlet {
  let isEnded = false;
  return {
    get unsent() {
      return outlet.unsent;
    },
    get isClosed() {
      return isEnded || outlet.isClosed;
    },
    write(bytes) {
      if (!isEnded) outlet.write(bytes);
    },
    drained: async () => outlet.drained(),
    onClose: (then) => outlet.onClose(then),
    end() {
      if (isEnded) return;
      isEnded = true;
      onEnd();
    },
    destroy: () => outlet.destroy(),
  };
}
