import type { ServerResponse } from 'node:http';

export interface ReaderConnection {
  /** Bytes written but not sent yet. */
  readonly unsent: number;
  readonly isClosed: boolean;
  /** Accepts complete events only, because multiple streams can write to the same connection. */
  write(bytes: Uint8Array): void;
  /** Resolves once everything has been sent or the connection has closed. */
  drained(): Promise<void>;
  /** Calls the function once, when the connection has closed. */
  onClose(callback: () => void): void;
  /** Sends the remaining data, then closes. */
  end(): void;
  destroy(): void;
}

const NOTHING = new Uint8Array();
/** After this time without traffic, TCP checks whether the reader is still connected. */
const KEEP_ALIVE_MS = 30_000;

/**
 * Takes over a socket. The body ends with the connection instead of being chunked, so the same bytes can be written
 * to every socket, without framing or copying them for each reader.
 */
export function createSocketConnection(
  outgoing: ServerResponse,
  headers: Readonly<Record<string, string>>,
): ReaderConnection {
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
    onClose(callback) {
      if (socket === null || socket.destroyed) callback();
      else socket.once('close', callback);
    },
    end() {
      outgoing.end();
    },
    destroy() {
      socket?.destroy();
    },
  };
}

/** Creates a connection that writes to a web stream, for requests without a socket. */
export function createWebStreamConnection(): {
  readonly connection: ReaderConnection;
  readonly body: ReadableStream<Uint8Array>;
} {
  const waiting: (() => void)[] = [];
  const closing: (() => void)[] = [];
  let isClosed = false;
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  function release(): void {
    for (const resolve of waiting.splice(0)) resolve();
  }
  function close(): void {
    isClosed = true;
    release();
    for (const callback of closing.splice(0)) callback();
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start(streamController) {
        controller = streamController;
      },
      // Called only when the queue is empty.
      pull: release,
      cancel: close,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  );
  const connection: ReaderConnection = {
    get unsent() {
      return -(controller?.desiredSize ?? 0);
    },
    get isClosed() {
      return isClosed;
    },
    write(bytes) {
      if (!isClosed) controller?.enqueue(bytes);
    },
    drained: async () =>
      new Promise((resolve) => {
        if (isClosed || connection.unsent === 0) resolve();
        else waiting.push(resolve);
      }),
    onClose(callback) {
      if (isClosed) callback();
      else closing.push(callback);
    },
    end() {
      if (isClosed) return;
      controller?.close();
      close();
    },
    destroy() {
      if (isClosed) return;
      controller?.error(new Error('The connection was closed because the reader was too slow.'));
      close();
    },
  };
  return { connection, body };
}
