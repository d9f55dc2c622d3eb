import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A proxy whose connections a test can break and allow again. */
export interface CuttableProxy {
  readonly url: string;
  /** Breaks every connection and accepts no new one. */
  disconnect(): void;
  /** Lets connections through again. */
  open(): void;
  close(): Promise<void>;
}

/** Opens a proxy between a page and its server that copies bytes. */
export async function openProxy(target: string): Promise<CuttableProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isOpen = true;
  const server = createServer((pageSocket) => {
    if (!isOpen) {
      pageSocket.resetAndDestroy();
      return;
    }
    const serverSocket = connect(Number(port), hostname);
    for (const [socket, other] of [
      [pageSocket, serverSocket],
      [serverSocket, pageSocket],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    disconnect() {
      isOpen = false;
      cut();
    },
    open() {
      isOpen = true;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
}
