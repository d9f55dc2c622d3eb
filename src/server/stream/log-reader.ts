import { LOG_START, comparePositions, getPosition, type LogPosition, type Emitted } from '../../events/index.js';
import type { EventLog } from '../../store/ports/index.js';
import {
  formatEvents,
  nextPosition,
  chooseSourceLog,
  formatPosition,
  createEventEncoder,
  formatGap,
  isNext,
  previousPosition,
} from './stream-protocol.js';
import type { StreamProtocol, EventEncoder } from './stream-protocol.js';

export type LogReader = ReturnType<typeof createLogReader>;

interface LogReaderOptions {
  readonly log: Pick<EventLog, 'read'>;
  readonly runId: string;
  readonly protocol: StreamProtocol;
  readonly after: LogPosition;
}

/** The chunks that are being read. Concurrent readers at the same position share them. */
export type SharedChunks = Map<string, Promise<Chunk | undefined>>;

/** The limits for the number of events per chunk. */
const MIN_EVENTS = 16;
const MAX_EVENTS = 256;
/** Only while chunks are smaller, their number of events grows: a single event can be megabytes long. */
const CHUNK_BYTES = 256 * 1024;

/** Creates a reader that starts after a position. A projection depends on earlier events, so it gets them first. */
export function createLogReader({ log, runId, protocol, after }: LogReaderOptions, shared: SharedChunks) {
  const encoder = createEventEncoder(protocol);
  const source = chooseSourceLog(protocol);
  let position = after;
  let limit = MIN_EVENTS;
  let isCaughtUp = !encoder.isStateful;
  /** The last event that was fed to the encoder. */
  let fed = LOG_START;

  async function read(from: LogPosition) {
    return log.read({ runId, protocol: source, after: formatPosition(protocol, from), limit });
  }

  async function catchUp(): Promise<void> {
    isCaughtUp = true;
    while (comparePositions(fed, after) < 0) {
      const range = { after: formatPosition(protocol, fed), to: formatPosition(protocol, after) };
      const page = await log.read({ runId, protocol: source, ...range, limit: MAX_EVENTS });
      const last = page.at(-1);
      if (last === undefined) return;
      for (const emitted of page) encoder.encode(emitted);
      fed = getPosition(last);
    }
  }

  async function readChunk(): Promise<Chunk | undefined> {
    const from = position;
    if (encoder.isStateful) return encodeChunk(await read(from), { protocol, encoder, after: from });
    const key = `${runId} ${protocol} ${formatPosition(protocol, from)} ${limit}`;
    const pending = shared.get(key);
    if (pending !== undefined) return pending;
    const chunk = read(from)
      .then((events) => encodeChunk(events, { protocol, encoder, after: from }))
      .finally(() => shared.delete(key));
    shared.set(key, chunk);
    return chunk;
  }

  return {
    get position(): LogPosition {
      return position;
    },
    /** Returns the next chunk; undefined if nothing new is available yet. */
    async next(): Promise<Chunk | undefined> {
      if (!isCaughtUp) await catchUp();
      const chunk = await readChunk();
      if (chunk === undefined) return undefined;
      position = chunk.last;
      fed = chunk.last;
      limit = chunk.bytes.length < CHUNK_BYTES ? Math.min(MAX_EVENTS, limit * 2) : Math.max(1, limit >> 1);
      return chunk;
    },
    /**
     * Returns the final events of a projection after the run has ended. Advances the position by one, so they are sent
     * only once. If the run `hadEvents` and all were deleted, a gap comes first, because a reader cannot know whether it
     * received them all. While any event is left there is none, because the oldest are deleted first.
     */
    async finish(hadEvents = false): Promise<string> {
      const isEmpty = hadEvents && (await log.read({ runId, protocol: source, limit: 1 })).length === 0;
      const next = nextPosition(protocol, position);
      const gap = isEmpty ? formatGap(protocol, next, null) : '';
      if (!isCaughtUp) await catchUp();
      const finalEvents = comparePositions(position, fed) > 0 ? [] : encoder.finish();
      position = next;
      return gap + formatEvents(finalEvents, formatPosition(protocol, position));
    },
  };
}

/** Consecutive events, encoded once for all readers. */
export interface Chunk {
  readonly bytes: Buffer;
  /** The offset at which the bytes of each event end. In a projection, an event can have no bytes. */
  readonly parts: readonly { readonly position: LogPosition; readonly end: number }[];
  readonly last: LogPosition;
  /** Whether it contains the end of an attempt or of the run. */
  readonly isTerminal: boolean;
}

/** Encodes the events after a position; missing events become a gap. Undefined if there are no events. */
function encodeChunk(
  events: readonly Emitted[],
  { protocol, encoder, after }: Pick<LogReaderOptions, 'protocol' | 'after'> & { readonly encoder: EventEncoder },
): Chunk | undefined {
  if (events.length === 0) return undefined;
  const fragments: string[] = [];
  const parts: { position: LogPosition; end: number }[] = [];
  let last = after;
  let end = 0;
  for (const emitted of events) {
    const position = getPosition(emitted);
    const gap = isNext(protocol, last, position)
      ? ''
      : formatGap(protocol, nextPosition(protocol, last), previousPosition(position));
    const text = gap + formatEvents(encoder.encode(emitted), formatPosition(protocol, position));
    fragments.push(text);
    end += Buffer.byteLength(text);
    parts.push({ position, end });
    last = position;
  }
  return { bytes: Buffer.from(fragments.join('')), parts, last, isTerminal: events.some(isTerminal) };
}

const RUN_ENDS: ReadonlySet<string> = new Set([
  'lifecycle.run.completed',
  'lifecycle.run.failed',
  'lifecycle.run.canceled',
]);

function isTerminal({ protocol, event }: Emitted): boolean {
  if (protocol === 'fcmp') return event.type === 'conversation.completed' || event.type === 'conversation.failed';
  return RUN_ENDS.has(event.event.type);
}
