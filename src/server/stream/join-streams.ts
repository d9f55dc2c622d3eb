import type { Outlet } from './outlet.js';
import type { StartStream } from './stream-hub.js';

/** The name for both logs of a run on one connection: a browser opens at most six connections to a server, for all windows together. */
export const BOTH_PROTOCOLS = 'fcmp,rasp';

/**
 * Sends several streams over one connection, which ends with the last of them. For a stream that has nothing to send, an end is sent
 * too, so that a reader can count the ends. Undefined if no stream has anything to send.
 */
export function joinStreams(starts: readonly (StartStream | undefined)[], end: string): StartStream | undefined {
  if (starts.every((start) => start === undefined)) return undefined;
  return (outlet) => {
    let open = starts.length;
    const sharedOutlets = starts.map(() =>
      shareOutlet(outlet, () => {
        open -= 1;
        if (open === 0) outlet.end();
      }),
    );
    for (const [index, sharedOutlet] of sharedOutlets.entries()) {
      const start = starts[index];
      if (start === undefined) {
        sharedOutlet.write(Buffer.from(end));
        sharedOutlet.end();
      } else {
        start(sharedOutlet);
      }
    }
  };
}

/** Creates the outlet for one of several streams that share a connection. */
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
    onClose: (callback) => outlet.onClose(callback),
    end() {
      if (isEnded) return;
      isEnded = true;
      onEnd();
    },
    destroy: () => outlet.destroy(),
  };
}
