import { comparePositions, type LogPosition } from '../../events/index.js';
import { SluiceError, type Logger } from '../../base/index.js';
import type { RunRecord } from '../../store/records/index.js';
import type { Store } from '../../store/index.js';
import { createBroadcast, findEnd, type Reader, type Broadcast, type RunEnd } from './broadcast.js';
import { createLogReader, type SharedChunks, type Chunk, type LogReader } from './log-reader.js';
import type { ReaderConnection } from './reader-connection.js';
import { formatEnd, RETRY, chooseSourceLog, previousPosition, formatPosition, formatLag } from './stream-protocol.js';
import type { StreamProtocol } from './stream-protocol.js';
import type { EventLog } from '../../store/ports/index.js';

/** A reader's request. The run was loaded before its events, so its state can be older than the events. */
interface StreamRequest {
  readonly run: RunRecord;
  readonly protocol: StreamProtocol;
  readonly after: LogPosition;
}

/** Sends events until the reader disconnects, or the run has ended: then calls `end`, which closes the connection by default. */
export type StartStream = (connection: ReaderConnection, end?: () => void) => void;

interface StreamHubOptions {
  readonly store: Pick<Store, 'watch' | 'findRun'>;
  readonly log: Pick<EventLog, 'read'>;
  readonly logger: Logger;
}

export function createStreamHub({ store, log, logger }: StreamHubOptions) {
  const broadcasts = new Map<string, Broadcast>();
  const shared: SharedChunks = new Map();

  const findBroadcast = (runId: string, protocol: StreamProtocol) => broadcasts.get(`${protocol} ${runId}`);

  /** Opens a broadcast that continues with a log reader. */
  function openBroadcast(runId: string, protocol: StreamProtocol, logReader: LogReader): Broadcast {
    const key = `${protocol} ${runId}`;
    const onClose = () => broadcasts.delete(key);
    const broadcast = createBroadcast({ store, runId, protocol, logReader, logger, onClose });
    broadcasts.set(key, broadcast);
    return broadcast;
  }

  function start(connection: ReaderConnection, end = () => connection.end(), stream: FollowedStream): void {
    const reader: Reader = { connection, end, position: stream.after };
    connection.onClose(() => reader.leave?.());
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
      const broadcast = findBroadcast(runId, protocol);
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
        const finalEvents = await logReader.finish(reader.position.seq > 0);
        connection.write(Buffer.from(finalEvents + formatEnd(protocol, end.status)));
        return reader.end();
      }
      end = await findEnd(store, runId);
      if (end !== undefined) continue;
      const newBroadcast = findBroadcast(runId, protocol);
      if (newBroadcast !== undefined) await newBroadcast.nextPoll();
      else if (!(await followBroadcast(openBroadcast(runId, protocol, logReader)))) return;
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
      if (findBroadcast(runId, protocol)?.covers(after) === true) {
        return (connection, end) => start(connection, end, { runId, protocol, after });
      }
      const logReader = createLogReader({ log, runId, protocol, after }, shared);
      const chunk = await logReader.next();
      if (chunk === undefined && run.state === 'ended') {
        const finalEvents = await logReader.finish(after.seq > 0 || (run.result?.attempts ?? 0) > 0);
        if (finalEvents === '') return undefined;
        return (connection, end = () => connection.end()) => {
          connection.write(Buffer.from(finalEvents + formatEnd(protocol, run.result?.status ?? null)));
          end();
        };
      }
      if (chunk === undefined && !(await hasReached(request))) {
        throw new SluiceError(
          'INVALID_POSITION',
          `The run has no event "${formatPosition(protocol, after)}" yet. Omit the position to start with the first event.`,
        );
      }
      return (connection, end) => start(connection, end, { runId, protocol, after, logReader, chunk });
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
