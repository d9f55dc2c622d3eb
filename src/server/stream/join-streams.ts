import type { ReaderConnection } from './reader-connection.js';
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
  return (connection) => {
    let openCount = starts.length;
    const sharedConnections = starts.map(() =>
      shareConnection(connection, () => {
        openCount -= 1;
        if (openCount === 0) connection.end();
      }),
    );
    for (const [index, sharedConnection] of sharedConnections.entries()) {
      const start = starts[index];
      if (start === undefined) {
        sharedConnection.write(Buffer.from(end));
        sharedConnection.end();
      } else {
        start(sharedConnection);
      }
    }
  };
}

/** Creates the connection for one of the streams that share it. */
function shareConnection(connection: ReaderConnection, onEnd: () => void): ReaderConnection {
  let isEnded = false;
  return {
    get unsent() {
      return connection.unsent;
    },
    get isClosed() {
      return isEnded || connection.isClosed;
    },
    write(bytes) {
      if (!isEnded) connection.write(bytes);
    },
    drained: async () => connection.drained(),
    onClose: (callback) => connection.onClose(callback),
    end() {
      if (isEnded) return;
      isEnded = true;
      onEnd();
    },
    destroy: () => connection.destroy(),
  };
}
