import type { ServerResponse } from 'node:http';
import type { Outlet } from './outlet.js';

const NOTHING = new Uint8Array();
/** A reader that left without a word is asked after so long whether it is there. */
const KEEP_ALIVE_MS = 30_000;

/**
 * Takes a connection over. The body ends with the connection instead of being sent in chunks, so the same bytes go to
 * every reader as they are, without being framed or copied for each, and straight to the socket.
 */
export function createSocketOutlet(outgoing: ServerResponse, headers: Readonly<Record<string, string>>): Outlet {
  outgoing.removeHeader('transfer-encoding');
  outgoing.writeHead(200, { ...headers, connection: 'close' });
  outgoing.flushHeaders();
  const { socket } = outgoing;
  socket?.setKeepAlive(true, KEEP_ALIVE_MS);

  return {
    get unsent() {
      return socket?.writableLength ?? 0;
    },
    get isClosed() {
      return socket === null || socket.destroyed || outgoing.writableEnded;
    },
    write(bytes) {
      if (socket?.writable === true && !outgoing.writableEnded) socket.write(bytes);
    },
    drained: async () =>
      new Promise((resolve) => {
        if (socket === null || !socket.writable) resolve();
        else socket.write(NOTHING, () => resolve());
      }),
    onClose(then) {
      if (socket === null || socket.destroyed) then();
      else socket.once('close', then);
    },
    end() {
      outgoing.end();
    },
    destroy() {
      socket?.destroy();
    },
  };
}
