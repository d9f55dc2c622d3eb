import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A network connection between workers and a server that can be cut. */
export interface Network {
  /** The port that workers connect to. */
  readonly port: number;
  /** Cuts all connections, and keeps new ones from reaching the server. With `isSilent`, neither side notices. */
  cut(options?: { readonly isSilent?: boolean }): void;
  restore(): void;
}

/** Starts a TCP proxy to a port of this host for the current test. */
export async function startNetwork(target: number): Promise<Network> {
  const open = new Set<Socket>();
  let state: 'up' | 'cut' | 'silent' = 'up';
  const proxy = createServer((socket) => {
    if (state === 'cut') return void socket.destroy();
    open.add(socket);
    socket.on('error', () => undefined).once('close', () => open.delete(socket));
    // Nothing is read: for the worker, the server does not respond.
    if (state === 'silent') return;
    const upstream = connect(target, '127.0.0.1');
    open.add(upstream);
    upstream
      .on('error', () => undefined)
      .once('close', () => {
        open.delete(upstream);
        socket.destroy();
      });
    socket.once('close', () => upstream.destroy());
    socket.pipe(upstream).pipe(socket);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    proxy.close();
  });
  const destroyAll = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: (proxy.address() as AddressInfo).port,
    cut({ isSilent = false } = {}) {
      state = isSilent ? 'silent' : 'cut';
      if (!isSilent) return destroyAll();
      for (const socket of open) {
        socket.unpipe();
        socket.pause();
      }
    },
    restore() {
      // What was in flight is lost.
      if (state === 'silent') destroyAll();
      state = 'up';
    },
  };
}
