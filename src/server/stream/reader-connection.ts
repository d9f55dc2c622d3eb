import type { ServerResponse } from 'node:http';
import { PassThrough, Readable, type Duplex, type Writable } from 'node:stream';
import { HEARTBEAT } from './stream-protocol.js';

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
  outgoing.socket?.setKeepAlive(true, KEEP_ALIVE_MS);
  return createConnection(outgoing.socket, outgoing);
}

/** Creates a connection that writes to a web stream, for requests without a socket. */
export function createWebStreamConnection() {
  // Without a buffer for its reader, everything that its reader has not read yet counts as unsent.
  const pipe = new PassThrough({ readableHighWaterMark: 0 });
  const body = Readable.toWeb(pipe) as unknown as ReadableStream<Uint8Array>;
  return { connection: createConnection(pipe, pipe), body };
}

/** The heartbeat interval, which is shorter than the idle time-outs of proxies. */
const HEARTBEAT_MS = 15_000;

/** Keeps a connection open while there is nothing to send, until the server shuts down. */
export function keepOpen(connection: ReaderConnection, shutdownSignal: AbortSignal): void {
  const heartbeat = setInterval(() => {
    if (connection.unsent === 0) connection.write(HEARTBEAT);
  }, HEARTBEAT_MS).unref();
  const end = (): void => connection.end();
  shutdownSignal.addEventListener('abort', end, { once: true });
  connection.onClose(() => {
    clearInterval(heartbeat);
    shutdownSignal.removeEventListener('abort', end);
  });
}

/** `stream` receives the bytes; `response` is ended. */
function createConnection(stream: Duplex | null, response: Writable): ReaderConnection {
  return {
    get unsent() {
      return stream?.writableLength ?? 0;
    },
    get isClosed() {
      return stream === null || stream.destroyed || response.writableEnded;
    },
    write(bytes) {
      if (stream?.writable === true && !response.writableEnded) stream.write(bytes);
    },
    drained: async () =>
      new Promise((resolve) => {
        if (stream === null || !stream.writable) resolve();
        else stream.write(NOTHING, () => resolve());
      }),
    onClose(callback) {
      if (stream === null || stream.destroyed) callback();
      else stream.once('close', callback);
    },
    end() {
      response.end();
    },
    destroy() {
      stream?.destroy();
    },
  };
}
