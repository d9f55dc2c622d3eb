import type { Outlet } from './outlet.js';

/** An outlet into a stream of the Web, for a server that is asked without a connection. */
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
      // Asked for more only when nothing is left.
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
      controller?.error(new Error('The reader was too slow.'));
      close();
    },
  };
  return { outlet, body };
}
