import type { Logger } from '../../base/index.js';
import type { Store } from '../../store/index.js';
import { formatEnd, type StreamProtocol } from './stream-protocol.js';
import type { LogReader, Chunk } from './log-reader.js';
import { setTimeout as wait } from 'node:timers/promises';
import { comparePositions, type LogPosition } from '../../events/index.js';
import { createWaker } from '../../orders/dispatch/index.js';
import type { ReaderConnection } from './reader-connection.js';

/** The end of a run; the status is null if the run was deleted. */
export interface RunEnd {
  readonly status: string | null;
}

/** Returns the end of the run; undefined while it has not ended. */
export async function findEnd(store: Pick<Store, 'findRun'>, runId: string): Promise<RunEnd | undefined> {
  const run = await store.findRun(runId);
  // A deleted run counts as ended.
  if (run === undefined) return { status: null };
  return run.state === 'ended' ? { status: run.result?.status ?? null } : undefined;
}

export interface Reader {
  readonly connection: ReaderConnection;
  /** Called when it has received everything. */
  readonly end: () => void;
  /** The position of the last event that was sent to it. */
  position: LogPosition;
  /** Set while it is attached; called when its connection closes. */
  leave?: (() => void) | undefined;
}

type Detachment = 'behind' | 'over';

export type Broadcast = ReturnType<typeof createBroadcast>;

interface BroadcastOptions {
  readonly store: Pick<Store, 'watch' | 'findRun'>;
  readonly runId: string;
  readonly protocol: StreamProtocol;
  /** Reads the events to send; owned by the broadcast. */
  readonly logReader: LogReader;
  readonly logger: Logger;
  /** Called when the last reader has left. */
  readonly onClose: () => void;
}

/** The maximum number of unsent bytes. A slower reader is detached, and gets its events from the store. */
const MAX_UNSENT = 256 * 1024;
/** The pause after a write, as a multiple of its duration: many readers then get fewer, larger chunks. */
const PAUSE_FACTOR = 2;
const MIN_PAUSE_MS = 4;
const MAX_PAUSE_MS = 100;
/**
 * When the store is checked for the end of a run: a single notification can announce both the last events and the end.
 * The delays apply to an attempt's last event, to any other event, and to a lost notification.
 */
const LAST_EVENT_POLL_MS = 50;
const QUIET_POLL_MS = 1000;
const END_POLL_MS = 15_000;
const RETRY_MS = 1000;

/**
 * Sends a run's new events to all readers that are up to date, until the run ends or the last reader has left. Each event
 * is encoded once, and one write can contain many events.
 */
export function createBroadcast({ store, runId, protocol, logReader, logger, onClose }: BroadcastOptions) {
  const recentChunks = createRecentChunks(logReader.position);
  const readers = new Map<Reader, (reason: Detachment) => void>();
  const pollWaiters: (() => void)[] = [];
  const waker = createWaker();
  const closing = new AbortController();
  let nextPollAt = performance.now() + END_POLL_MS;

  function detach(reader: Reader, reason: Detachment): void {
    const resolve = readers.get(reader);
    readers.delete(reader);
    reader.leave = undefined;
    resolve?.(reason);
    if (readers.size === 0) close();
  }

  function close(): void {
    if (closing.signal.aborted) return;
    closing.abort();
    onClose();
    waker.wake();
  }

  function publish(chunk: Chunk): void {
    recentChunks.add(chunk);
    for (const reader of readers.keys()) {
      if (reader.connection.unsent > MAX_UNSENT) {
        detach(reader, 'behind');
        continue;
      }
      if (chunk.bytes.length > 0) reader.connection.write(chunk.bytes);
      reader.position = chunk.last;
    }
    nextPollAt = performance.now() + (chunk.isTerminal ? LAST_EVENT_POLL_MS : QUIET_POLL_MS);
  }

  /** Sends everything available. Returns the milliseconds spent on writing; undefined if there was nothing. */
  async function sendAll(): Promise<number | undefined> {
    let writeMs: number | undefined;
    for (;;) {
      const chunk = await logReader.next();
      if (chunk === undefined || closing.signal.aborted) return writeMs;
      const startedAt = performance.now();
      publish(chunk);
      writeMs = (writeMs ?? 0) + performance.now() - startedAt;
    }
  }

  async function finish(status: string | null): Promise<void> {
    const last = Buffer.from((await logReader.finish()) + formatEnd(protocol, status));
    for (const reader of readers.keys()) {
      reader.connection.write(last);
      reader.end();
      detach(reader, 'over');
    }
    close();
  }

  /** Sends new events, or checks whether the run has ended. All events are sent before the end. */
  async function poll(): Promise<void> {
    let writeMs = await sendAll();
    if (writeMs === undefined || performance.now() >= nextPollAt) {
      nextPollAt = performance.now() + END_POLL_MS * (1 - Math.random() / 4);
      const end = await findEnd(store, runId);
      if (end !== undefined) {
        writeMs = await sendAll();
        await finish(end.status);
      }
    }
    for (const resolve of pollWaiters.splice(0)) resolve();
    await wait(Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, PAUSE_FACTOR * (writeMs ?? 0))));
  }

  async function run(): Promise<void> {
    const stop = store.watch(runId, waker.wake);
    try {
      while (!closing.signal.aborted) {
        await poll().catch(async (error: unknown) => {
          logger.warn('cannot read run events', { error });
          await wait(RETRY_MS);
          waker.wake();
        });
        await waker.sleep(Math.max(0, nextPollAt - performance.now()));
      }
    } finally {
      stop();
      for (const resolve of pollWaiters.splice(0)) resolve();
    }
  }

  void run();
  return {
    get head(): LogPosition {
      return recentChunks.head;
    },
    /** Whether a reader at this position can be attached without reading the store. */
    covers: (position: LogPosition): boolean => !closing.signal.aborted && recentChunks.covers(position),
    /** Sends all events after a covered position, until the reader is too slow or disconnects, or the run ends. */
    attach: async (reader: Reader): Promise<Detachment> =>
      new Promise((resolve) => {
        for (const bytes of recentChunks.since(reader.position)) reader.connection.write(bytes);
        reader.position = recentChunks.head;
        readers.set(reader, resolve);
        reader.leave = () => detach(reader, 'over');
        if (reader.connection.isClosed) reader.leave();
      }),
    /** Resolves after the next poll of the log. */
    nextPoll: async (): Promise<void> =>
      new Promise((resolve) => {
        if (closing.signal.aborted) resolve();
        else pollWaiters.push(resolve);
      }),
  };
}

/** The limits of the buffer: at least a second of a busy run. Older events are in the store. */
const MAX_BYTES = 1024 * 1024;
const MAX_CHUNKS = 1024;

/** Creates an empty buffer that starts at a position. */
export function createRecentChunks(start: LogPosition) {
  const buffered: { readonly chunk: Chunk; readonly from: LogPosition }[] = [];
  let head = start;
  let oldestCovered = start;
  let bytes = 0;

  return {
    /** The position of a reader that has received everything. */
    get head(): LogPosition {
      return head;
    },
    add(chunk: Chunk) {
      buffered.push({ chunk, from: head });
      head = chunk.last;
      bytes += chunk.bytes.length;
      while (buffered.length > MAX_CHUNKS || bytes > MAX_BYTES) {
        const oldest = buffered.shift();
        if (oldest === undefined) break;
        oldestCovered = oldest.chunk.last;
        bytes -= oldest.chunk.bytes.length;
      }
    },
    /** Whether everything after a position is in the buffer. */
    covers: (position: LogPosition): boolean =>
      comparePositions(oldestCovered, position) <= 0 && comparePositions(position, head) <= 0,
    /** Returns the bytes after a covered position. */
    since(position: LogPosition): readonly Buffer[] {
      const first = buffered.findLastIndex(({ from }) => comparePositions(from, position) <= 0);
      return buffered.slice(Math.max(0, first)).flatMap(({ chunk, from }) => {
        if (comparePositions(position, from) <= 0) return [chunk.bytes];
        const offset = chunk.parts.findLast((part) => comparePositions(part.position, position) <= 0)?.end ?? 0;
        return [chunk.bytes.subarray(offset)];
      });
    },
  };
}
