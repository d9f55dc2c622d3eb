import type { Outlet } from './outlet.js';
import type { StartStream } from './stream-hub.js';

/**
 * The name for both of a run's logs on one connection: a browser opens at most six connections per server, across all
 * windows.
 */
export const BOTH_PROTOCOLS = 'fcmp,rasp';

/**
 * Sends multiple streams over one connection, which closes when the last of them ends. A stream with nothing to send
 * also gets an end event, so a reader can count the ends. Undefined if no stream has anything to send.
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

/** Creates the connection for one of the streams that share it. */
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
