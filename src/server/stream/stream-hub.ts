import { comparePositions, type LogPosition } from '../../events/index.js';
import { SluiceError, type Logger } from '../../base/index.js';
import type { RunRecord } from '../../store/records/index.js';
import type { Store } from '../../store/index.js';
import { createBroadcasts, type Reader, type Broadcast, type RunEnd } from './broadcast.js';
import { describeLostEvents, createLogReader, type SharedChunks, type Chunk, type LogReader } from './log-reader.js';
import type { ReaderConnection } from './reader-connection.js';
import {
  formatEnd,
  HEARTBEAT,
  RETRY,
  chooseSourceLog,
  previousPosition,
  formatPosition,
  formatLag,
} from './stream-protocol.js';
import type { StreamProtocol } from './stream-protocol.js';
import type { EventLog } from '../../store/ports/index.js';

/** A reader's request. The run was loaded before its events, so its state can be older than the events. */
interface StreamRequest {
  readonly run: RunRecord;
  readonly protocol: StreamProtocol;
  readonly after: LogPosition;
}

/** Sends events until the run ends or the reader disconnects. */
export type StartStream = (connection: ReaderConnection) => void;

interface StreamHubOptions {
  readonly store: Pick<Store, 'watch' | 'findRun'>;
  readonly log: Pick<EventLog, 'read'>;
  readonly logger: Logger;
  readonly shutdownSignal: AbortSignal;
}

/** The heartbeat interval, which is shorter than the idle time-outs of proxies. */
const HEARTBEAT_MS = 15_000;

export function createStreamHub({ store, log, logger, shutdownSignal }: StreamHubOptions) {
  const broadcasts = createBroadcasts(store, logger);
  const shared: SharedChunks = new Map();
  const readers = new Set<Reader>();
  let heartbeat: NodeJS.Timeout | undefined;

  shutdownSignal.addEventListener('abort', () => {
    for (const { connection } of readers) connection.end();
  });

  function sendHeartbeat(): void {
    for (const { connection } of readers) if (connection.unsent === 0) connection.write(HEARTBEAT);
  }

  function add(reader: Reader): void {
    readers.add(reader);
    heartbeat ??= setInterval(sendHeartbeat, HEARTBEAT_MS).unref();
    reader.connection.onClose(() => {
      readers.delete(reader);
      reader.leave?.();
      if (readers.size > 0) return;
      clearInterval(heartbeat);
      heartbeat = undefined;
    });
  }

  function start(connection: ReaderConnection, stream: FollowedStream): void {
    const reader: Reader = { connection, position: stream.after };
    add(reader);
    connection.write(RETRY);
    follow(reader, stream).catch((error: unknown) => {
      // The client reconnects and then gets the error.
      logger.warn('event stream failed', { run_id: stream.runId, error });
      connection.destroy();
    });
  }

  /**
   * Sends a reader everything after its position: past events from the store at the reader's pace, then live events
   * together with all other readers. A reader that falls behind gets a `lag` event and continues from the store.
   */
  async function follow(reader: Reader, { runId, protocol, ...started }: FollowedStream): Promise<void> {
    const { connection } = reader;
    let { logReader, chunk } = started;
    let end: RunEnd | undefined;

    /** Sends live events; returns true if the reader fell behind and must continue from the store. */
    async function followBroadcast(broadcast: Broadcast): Promise<boolean> {
      logReader = undefined;
      chunk = undefined;
      if ((await broadcast.attach(reader)) === 'over') return false;
      if (!(await drainOrDestroy(connection))) return false;
      connection.write(Buffer.from(formatLag(protocol, reader.position)));
      return true;
    }

    while (!connection.isClosed) {
      const broadcast = broadcasts.find(runId, protocol);
      if (broadcast?.covers(reader.position) === true) {
        if (await followBroadcast(broadcast)) continue;
        return;
      }
      if (broadcast !== undefined && comparePositions(reader.position, broadcast.head) > 0) {
        await broadcast.nextPoll();
        continue;
      }
      logReader ??= createLogReader({ log, runId, protocol, after: reader.position }, shared);
      chunk ??= await logReader.next();
      if (chunk !== undefined) {
        connection.write(chunk.bytes);
        reader.position = chunk.last;
        chunk = undefined;
        if (connection.unsent > MAX_UNSENT && !(await drainOrDestroy(connection))) return;
        continue;
      }
      if (end !== undefined) {
        const after = reader.position;
        const gap = after.seq > 0 ? await describeLostEvents(log, { runId, protocol, after }) : '';
        connection.write(Buffer.from(gap + (await logReader.finish()) + formatEnd(protocol, end.status)));
        connection.end();
        return;
      }
      end = await broadcasts.findEnd(runId);
      if (end !== undefined) continue;
      const newBroadcast = broadcasts.find(runId, protocol);
      if (newBroadcast !== undefined) await newBroadcast.nextPoll();
      else if (!(await followBroadcast(broadcasts.open(runId, protocol, logReader)))) return;
    }
  }

  async function hasReached({ run, protocol, after }: StreamRequest): Promise<boolean> {
    if (after.seq === 0 && after.attempt <= 1) return true;
    const range = { after: formatPosition(protocol, previousPosition(after)), to: formatPosition(protocol, after) };
    return (await log.read({ runId: run.id, protocol: chooseSourceLog(protocol), ...range, limit: 1 })).length > 0;
  }

  return {
    /**
     * Checks whether there is, or might be, anything to send; undefined if the reader has everything. Throws
     * `INVALID_POSITION` for a position that the run has not reached.
     */
    async prepare(request: StreamRequest): Promise<StartStream | undefined> {
      const { run, protocol, after } = request;
      const runId = run.id;
      if (broadcasts.find(runId, protocol)?.covers(after) === true) {
        return (connection) => start(connection, { runId, protocol, after });
      }
      const logReader = createLogReader({ log, runId, protocol, after }, shared);
      const chunk = await logReader.next();
      if (chunk === undefined && run.state === 'ended') {
        const hadEvents = after.seq > 0 || (run.result?.attempts ?? 0) > 0;
        const gap = hadEvents ? await describeLostEvents(log, { runId, protocol, after }) : '';
        const finalEvents = gap + (await logReader.finish());
        if (finalEvents === '') return undefined;
        return (connection) => {
          connection.write(Buffer.from(finalEvents + formatEnd(protocol, run.result?.status ?? null)));
          connection.end();
        };
      }
      if (chunk === undefined && !(await hasReached(request))) {
        throw new SluiceError(
          'INVALID_POSITION',
          `The run has no event "${formatPosition(protocol, after)}" yet. Omit the position to start with the first event.`,
        );
      }
      return (connection) => start(connection, { runId, protocol, after, logReader, chunk });
    },
  };
}

interface FollowedStream {
  readonly runId: string;
  readonly protocol: StreamProtocol;
  readonly after: LogPosition;
  /** The log reader and its first chunk, which shows whether there is anything to send. */
  readonly logReader?: LogReader;
  readonly chunk?: Chunk | undefined;
}

/** The maximum number of bytes buffered for a reader of past events. */
const MAX_UNSENT = 64 * 1024;

/** A reader that accepts no bytes for this long is disconnected. */
const STALL_MS = 60_000;

/** Waits until everything has been sent; disconnects the reader and returns false if that takes too long. */
async function drainOrDestroy(connection: ReaderConnection): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), STALL_MS);
  });
  const isDrained = await Promise.race([connection.drained().then(() => true), timeout]);
  clearTimeout(timer);
  if (!isDrained) connection.destroy();
  return isDrained;
}
