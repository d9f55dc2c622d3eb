import { setTimeout as wait } from 'node:timers/promises';
import type { LogPosition } from '../../events/index.js';
import { createWaker } from '../../dispatch/index.js';
import type { Logger } from '../../base/index.js';
import type { Outlet } from './outlet.js';
import type { Passage } from './passage.js';
import { createRecentPassages } from './recent-passages.js';
import { endText } from './sse-text.js';
import type { StreamProtocol } from './stream-protocol.js';
import type { Telling } from './telling.js';

/** One who follows a run. */
export interface Reader {
  readonly outlet: Outlet;
  /** What it has been sent. */
  position: LogPosition;
  /** Set while it is carried: to be called when it is gone. */
  leave?: (() => void) | undefined;
}

/** Why a reader is not carried any further. */
export type Parting = 'behind' | 'over';

/** Sends the events of a run to all who are up to date, each encoded once, many in one write. */
export interface Broadcast {
  readonly head: LogPosition;
  /** Whether a reader at this position can come along without the store. */
  covers(position: LogPosition): boolean;
  /** Takes a reader along from its position, which must be covered, until it is too slow, gone, or the run has ended. */
  carry(reader: Reader): Promise<Parting>;
  /** Resolves when the log has been looked at again. */
  nextLook(): Promise<void>;
}

/** What a broadcast works with. */
export interface BroadcastOptions {
  readonly protocol: StreamProtocol;
  /** Goes on from here; nobody else uses it any more. */
  readonly telling: Telling;
  /** Calls back when there is more to tell. */
  readonly watch: (wake: () => void) => () => void;
  /** How the run ended; undefined while it has not. */
  readonly findEnd: () => Promise<{ readonly status: string | null } | undefined>;
  readonly logger: Logger;
  /** Called when nobody listens any more. */
  readonly onClose: () => void;
}

/** So much may wait for one reader, beside the passage being written; more is not kept for it but read again. */
const MOST_UNSENT = 256 * 1024;
/** Writing takes a third of the time at most: with many readers passages grow instead of queues. */
const REST = 2;
const SHORTEST_REST_MS = 4;
const LONGEST_REST_MS = 100;
/** Nothing tells when the books are closed on a run. Soon after its last event is likely. */
const FIRST_LOOK_MS = 50;
const LATEST_LOOK_MS = 1000;

/** Begins to send what follows. It ends when the run does, or when the last reader has left. */
export function createBroadcast(options: BroadcastOptions): Broadcast {
  const { protocol, telling, watch, findEnd, logger, onClose } = options;
  const recent = createRecentPassages(telling.position);
  const carried = new Map<Reader, (parting: Parting) => void>();
  let looks: (() => void)[] = [];
  const waker = createWaker();
  const closing = new AbortController();
  let lookMs = LATEST_LOOK_MS;
  let lookDue = performance.now() + lookMs;

  function part(reader: Reader, parting: Parting): void {
    const resolve = carried.get(reader);
    carried.delete(reader);
    reader.leave = undefined;
    resolve?.(parting);
    if (carried.size === 0) close();
  }

  function close(): void {
    if (closing.signal.aborted) return;
    closing.abort();
    onClose();
    waker.wake();
  }

  function publish(passage: Passage): void {
    recent.add(passage);
    for (const reader of carried.keys()) {
      if (reader.outlet.unsent > MOST_UNSENT) {
        part(reader, 'behind');
        continue;
      }
      if (passage.bytes.length > 0) reader.outlet.write(passage.bytes);
      reader.position = passage.last;
    }
    if (!passage.isTerminal) return;
    lookMs = FIRST_LOOK_MS;
    lookDue = performance.now() + lookMs;
  }

  /** Sends all there is; tells how long that took. */
  async function sendAll(): Promise<number> {
    let spent = 0;
    for (;;) {
      const passage = await telling.next();
      if (passage === undefined || closing.signal.aborted) return spent;
      const began = performance.now();
      publish(passage);
      spent += performance.now() - began;
    }
  }

  async function finish(status: string | null): Promise<void> {
    const last = Buffer.from((await telling.finish()) + endText(protocol, status));
    for (const reader of carried.keys()) {
      reader.outlet.write(last);
      reader.outlet.end();
      part(reader, 'over');
    }
    close();
  }

  /** Looks for the end before the events: what came before it is sent then. */
  async function look(): Promise<void> {
    let end: Awaited<ReturnType<typeof findEnd>>;
    if (performance.now() >= lookDue) {
      end = await findEnd();
      lookMs = Math.min(LATEST_LOOK_MS, lookMs * 2);
      lookDue = performance.now() + lookMs;
    }
    const spent = await sendAll();
    if (end !== undefined) await finish(end.status);
    for (const resolve of looks.splice(0)) resolve();
    await wait(Math.min(LONGEST_REST_MS, Math.max(SHORTEST_REST_MS, REST * spent)));
  }

  async function run(): Promise<void> {
    const stop = watch(waker.wake);
    try {
      while (!closing.signal.aborted) {
        await look().catch(async (error: unknown) => {
          logger.warn('events of a run cannot be read', { error });
          await wait(LATEST_LOOK_MS);
          waker.wake();
        });
        await waker.sleep(Math.max(0, lookDue - performance.now()));
      }
    } finally {
      stop();
      for (const resolve of looks) resolve();
      looks = [];
    }
  }

  void run();
  return {
    get head() {
      return recent.head;
    },
    covers: (position) => !closing.signal.aborted && recent.covers(position),
    carry: async (reader) =>
      new Promise((resolve) => {
        for (const bytes of recent.since(reader.position)) reader.outlet.write(bytes);
        reader.position = recent.head;
        carried.set(reader, resolve);
        reader.leave = () => part(reader, 'over');
        if (reader.outlet.isClosed) reader.leave();
      }),
    nextLook: async () =>
      new Promise((resolve) => {
        if (closing.signal.aborted) resolve();
        else looks.push(resolve);
      }),
  };
}
