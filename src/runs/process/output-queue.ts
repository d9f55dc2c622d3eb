import type { StreamName } from '../../events/index.js';

/** Bytes of one stream; chunks of all streams are in order of arrival. */
export interface OutputChunk {
  readonly stream: StreamName;
  readonly bytes: Uint8Array;
}

/** Large enough to keep a reader busy, small enough for hundreds of processes. */
const HIGH_WATER = 256 * 1024;
const LOW_WATER = HIGH_WATER / 2;
/** Adjacent chunks of one stream are merged up to this size, so a slow reader gets larger chunks instead of more. */
const MAX_MERGED_BYTES = 64 * 1024;

export interface OutputQueue {
  push(stream: StreamName, bytes: Uint8Array): void;
  /** Ends the output; the reader still gets the queued chunks. */
  end(): void;
  readonly isFull: boolean;
  readonly arrivals: number;
  readonly isEnded: boolean;
  readonly ended: Promise<void>;
  /** For a single reader. If it stops early, the process continues and its output is dropped. */
  readonly output: AsyncIterableIterator<OutputChunk>;
}

/** Creates a queue. `flow` is called when the process has to wait (false) and when it can continue (true). */
export function createOutputQueue(flow: (isFlowing: boolean) => void): OutputQueue {
  let queued: OutputChunk[] = [];
  let head = 0;
  let bytesQueued = 0;
  let isFull = false;
  /** Whether the reader has stopped: later output is dropped, so the process does not wait forever. */
  let isAbandoned = false;
  let arrivals = 0;
  const end = new AbortController();
  const ended = new Promise<void>((resolve) => {
    end.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  let waiting: ((result: IteratorResult<OutputChunk, undefined>) => void)[] = [];

  function takeChunk(): OutputChunk | undefined {
    const first = queued[head];
    if (first === undefined) return undefined;
    head += 1;
    let length = first.bytes.length;
    const parts = [first.bytes];
    for (let next = queued[head]; next?.stream === first.stream; next = queued[head]) {
      if (length + next.bytes.length > MAX_MERGED_BYTES) break;
      parts.push(next.bytes);
      length += next.bytes.length;
      head += 1;
    }
    if (head === queued.length) {
      queued = [];
      head = 0;
    }
    bytesQueued -= length;
    if (isFull && bytesQueued <= LOW_WATER) {
      isFull = false;
      flow(true);
    }
    return parts.length === 1 ? first : { stream: first.stream, bytes: Buffer.concat(parts, length) };
  }

  function finish(): void {
    end.abort();
    for (const resolve of waiting) resolve({ done: true, value: undefined });
    waiting = [];
  }

  return {
    push(stream, bytes) {
      arrivals += 1;
      if (end.signal.aborted || isAbandoned || bytes.length === 0) return;
      const reader = waiting.shift();
      if (reader !== undefined) {
        reader({ done: false, value: { stream, bytes } });
        return;
      }
      queued.push({ stream, bytes });
      bytesQueued += bytes.length;
      if (!isFull && bytesQueued >= HIGH_WATER) {
        isFull = true;
        flow(false);
      }
    },
    end: finish,
    get isFull() {
      return isFull;
    },
    get arrivals() {
      return arrivals;
    },
    get isEnded() {
      return end.signal.aborted;
    },
    ended,
    output: {
      [Symbol.asyncIterator]() {
        return this;
      },
      async next() {
        const chunk = takeChunk();
        if (chunk !== undefined) return { done: false, value: chunk };
        if (end.signal.aborted || isAbandoned) return { done: true, value: undefined };
        return new Promise((resolve) => {
          waiting.push(resolve);
        });
      },
      async return() {
        isAbandoned = true;
        queued = [];
        head = 0;
        bytesQueued = 0;
        if (isFull) {
          isFull = false;
          flow(true);
        }
        return { done: true, value: undefined };
      },
    },
  };
}
