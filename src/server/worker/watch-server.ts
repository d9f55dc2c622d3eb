import type { Logger } from '../../base/index.js';
import type { QueueWork } from '../../store/index.js';
import type { BodyOf, ENDPOINTS } from '../api/index.js';
import type { Connection, OpenStream } from './connection.js';

type WatchRequest = BodyOf<typeof ENDPOINTS.watchWork>;

const FIRST_DELAY_MS = 100;
/** Many runs end before a request for them could arrive: they need no stream. */
const NEW_RUN_MS = 200;
const MAX_DELAY_MS = 5000;
/** How long a replaced stream stays open. */
const REPLACED_MS = 1000;
/** How soon a worker claims again if its claim does not wait on the server. */
const WAKE_LATER_MS = 1000;

/**
 * Keeps one stream open for everything that this worker waits for. When the runs change, a new stream is opened first
 * and the old one is closed once the new one watches, so no wake-up is lost. After a gap everything is woken.
 */
export function watchServer(
  connection: Connection,
  logger: Logger,
  onClaimed: (claimed: unknown, isWanted: boolean) => void,
) {
  const runs = new Map<string, { readonly workerId: string; readonly wake: () => void }>();
  let queue: { readonly wake: (work?: QueueWork) => void; readonly watcher: Omit<WatchRequest, 'runs'> } | undefined;
  let current: OpenStream | undefined;
  /** The runs that the current stream watches. */
  let known: ReadonlySet<string> = new Set();
  let next: OpenStream | undefined;
  let timer: NodeJS.Timeout | undefined;
  let delay = FIRST_DELAY_MS;
  let isClosed = false;

  function refresh(afterMs: number): void {
    if (!isClosed) timer ??= setTimeout(open, afterMs).unref();
  }

  function open(): void {
    timer = undefined;
    closeLater(next);
    if (isClosed || (queue === undefined && runs.size === 0)) {
      current?.close();
      [current, next] = [undefined, undefined];
      return;
    }
    const watched = [...runs].map(([id, { workerId }]) => ({ id, worker_id: workerId }));
    const body: WatchRequest = { ...queue?.watcher, runs: watched };
    const stream = connection.open('/v1/worker/watch', body, {
      line: (line) => receive(stream, watched, line),
      end: () => {
        if (next === stream) next = undefined;
        else if (current === stream) current = undefined;
        else return;
        logger.debug('connection to the server lost, will reconnect', { delay_ms: delay });
        refresh(delay);
        delay = Math.min(delay * 2, MAX_DELAY_MS);
      },
    });
    next = stream;
  }

  function receive(stream: OpenStream, watched: WatchRequest['runs'], line: unknown): void {
    const { run, claimed } = line as { readonly run?: string; readonly claimed?: unknown };
    if (run !== undefined) return runs.get(run)?.wake();
    if (claimed !== undefined) {
      onClaimed(claimed, queue !== undefined);
      return queue?.wake('runs');
    }
    if (stream !== next) return;
    delay = FIRST_DELAY_MS;
    const hadGap = current === undefined;
    if (queue === undefined) current?.close();
    else closeLater(current);
    [current, next] = [stream, undefined];
    // Requests that arrived before a run was watched sent no wake-up.
    for (const { id } of watched) if (hadGap || !known.has(id)) runs.get(id)?.wake();
    known = new Set(watched.map(({ id }) => id));
    if (hadGap) queue?.wake('runs');
  }

  return {
    watchQueue(wake: (work?: QueueWork) => void, watcher: Omit<WatchRequest, 'runs'>): () => void {
      queue = { wake, watcher };
      refresh(0);
      return () => {
        queue = undefined;
        refresh(0);
      };
    },
    watchRun(id: string, workerId: string, wake: () => void): () => void {
      runs.set(id, { workerId, wake });
      refresh(NEW_RUN_MS);
      return () => {
        // The stream may watch it until the runs change again.
        runs.delete(id);
        if (runs.size === 0 && queue === undefined) refresh(0);
      };
    },
    /** Wakes the watcher of the queue after a while, because the server will not. */
    wakeLater() {
      if (!isClosed) setTimeout(() => queue?.wake('runs'), WAKE_LATER_MS).unref();
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      current?.close();
      next?.close();
    },
  };
}

/** A replaced stream can still deliver a run that was claimed for this worker. */
function closeLater(replaced: OpenStream | undefined): void {
  if (replaced !== undefined) setTimeout(() => replaced.close(), REPLACED_MS).unref();
}
