import type { ServerResponse } from 'node:http';

/** The connection of one reader. */
export interface Outlet {
  /** Bytes written but not sent yet. */
  readonly unsent: number;
  readonly isClosed: boolean;
  /** Takes complete events only, because others write to the same connection. */
  write(bytes: Uint8Array): void;
  /** Resolves once everything was sent or the connection closed. */
  drained(): Promise<void>;
  /** Calls back once, when the connection has closed. */
  onClose(then: () => void): void;
  /** Sends the remaining data, then closes. */
  end(): void;
  /** Closes at once. */
  destroy(): void;
}

const NOTHING = new Uint8Array();
/** After this long without traffic TCP probes whether the reader is still there. */
const KEEP_ALIVE_MS = 30_000;

/**
 * Takes over a connection. The body ends with the connection instead of being chunked, so the same bytes are written to
 * every socket without framing or copying them for each.
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

/** An outlet into a web stream, for requests without a connection. */
export function createWebOutlet(): { readonly outlet: Outlet; readonly body: ReadableStream<Uint8Array> } {
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
    for (const then of closing.splice(0)) then();
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
      },
      // Called only when the queue is empty.
      pull: release,
      cancel: close,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  );
  const outlet: Outlet = {
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
        if (isClosed || outlet.unsent === 0) resolve();
        else waiting.push(resolve);
      }),
    onClose(then) {
      if (isClosed) then();
      else closing.push(then);
    },
    end() {
      if (isClosed) return;
      controller?.close();
      close();
    },
    destroy() {
      if (isClosed) return;
      controller?.error(new Error('The reader is too slow.'));
      close();
    },
  };
  return { outlet, body };
}
