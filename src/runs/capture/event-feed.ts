import { EventEmitter, once } from 'node:events';
import { LOG_START, comparePositions, getPosition } from '../../events/index.js';
import type { Emitted, FcmpEvent, LogPosition } from '../../events/index.js';
import { openEventTail, type RunFolder } from '../run-folder/index.js';
import type { EventLog } from '../../store/ports/index.js';
import { SluiceError } from '../../base/index.js';

/** Where a feed's events are stored: in an event log, or only in the log files of the run folder. */
type FeedLog = Pick<EventLog, 'read'> | Pick<RunFolder, 'openLog'>;

const PAGE_SIZE = 1024;

/**
 * Publishes a run's events to any number of readers, each starting at the first event and reading at its own pace.
 * Unread events are kept in memory up to a limit; slow or late readers fall back to the log.
 */
export class EventFeed implements AsyncIterable<Emitted> {
  readonly #runId: string;
  readonly #log: FeedLog;
  readonly #onEvent: ((event: FcmpEvent) => void) | undefined;
  readonly #order = new ProtocolOrder();
  readonly #recent = new RecentEvents();
  readonly #readers = new Set<{ next: number }>();
  /** Emits `change` when readers can continue. */
  readonly #progress = new EventEmitter().setMaxListeners(0);
  #hasEnded = false;
  #failure: SluiceError | null = null;

  constructor(runId: string, log: FeedLog, onEvent?: (event: FcmpEvent) => void) {
    this.#runId = runId;
    this.#log = log;
    this.#onEvent = onEvent;
  }

  /** Publishes events, which must already be in the log. */
  publish(events: readonly Emitted[]): void {
    if (events.length === 0) return;
    let needed = this.#order.length + events.length;
    for (const { next } of this.#readers) needed = Math.min(needed, next);
    for (const { protocol, event } of events) {
      this.#order.add(protocol);
      if (protocol === 'fcmp') this.#onEvent?.(event);
    }
    this.#recent.add(events, needed);
    this.#progress.emit('change');
  }

  /** Ends the feed; with a failure if events could not be stored. */
  end(failure: SluiceError | null = null): void {
    this.#hasEnded = true;
    this.#failure = failure;
    this.#progress.emit('change');
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Emitted, undefined> {
    const logReader = new LogReader(this.#runId, this.#log, this.#order);
    const reader = { next: 0 };
    this.#readers.add(reader);
    try {
      for (;;) {
        while (reader.next >= this.#order.length) {
          if (this.#failure !== null) throw this.#failure;
          if (this.#hasEnded) return undefined;
          await once(this.#progress, 'change');
        }
        const emitted = this.#recent.at(reader.next) ?? (await logReader.at(reader.next));
        logReader.markRead(emitted);
        reader.next += 1;
        yield emitted;
      }
    } finally {
      this.#readers.delete(reader);
      await logReader.close();
    }
  }
}

type Protocol = Emitted['protocol'];

/** Reads the log for one reader: pages of both protocols, merged in publication order. */
class LogReader {
  readonly #runId: string;
  readonly #order: ProtocolOrder;
  readonly #logs: Record<Protocol, ProtocolLog>;
  readonly #pages: Record<Protocol, Emitted[]> = { rasp: [], fcmp: [] };
  readonly #last: Record<Protocol, LogPosition> = { rasp: LOG_START, fcmp: LOG_START };

  constructor(runId: string, log: FeedLog, order: ProtocolOrder) {
    this.#runId = runId;
    this.#order = order;
    const open = (protocol: Protocol): ProtocolLog =>
      'read' in log ? readStore(log, runId, protocol) : readFile(log, protocol);
    this.#logs = { rasp: open('rasp'), fcmp: open('fcmp') };
  }

  /** Returns the event with this number, which must be the first that was not marked as read. */
  async at(index: number): Promise<Emitted> {
    const protocol = this.#order.at(index);
    if (this.#pages[protocol].length === 0)
      this.#pages[protocol] = [...(await this.#logs[protocol].read(this.#last[protocol]))];
    const [next] = this.#pages[protocol];
    if (next !== undefined) return next;
    throw new SluiceError(
      'EVENT_LOG_INCOMPLETE',
      `The event log has lost ${protocol} events of run ${this.#runId}. Rebuild them: sluice translate DIR --write.`,
    );
  }

  /** Marks an event as read, even if it came from memory. */
  markRead(emitted: Emitted): void {
    this.#last[emitted.protocol] = getPosition(emitted);
    this.#pages[emitted.protocol].shift();
  }

  async close(): Promise<void> {
    for (const log of Object.values(this.#logs)) await log.close();
  }
}

interface ProtocolLog {
  /** Returns the next events after a position; none if there are no more. */
  read(after: LogPosition): Promise<readonly Emitted[]>;
  close(): Promise<void>;
}

function readStore(log: Pick<EventLog, 'read'>, runId: string, protocol: Protocol): ProtocolLog {
  return {
    read: async ({ attempt, seq }) =>
      log.read({ runId, protocol, after: protocol === 'rasp' ? `${attempt}:${seq}` : seq, limit: PAGE_SIZE }),
    close: async () => undefined,
  };
}

function readFile(folder: Pick<RunFolder, 'openLog'>, protocol: Protocol): ProtocolLog {
  const open = () => openEventTail(async () => folder.openLog(protocol), protocol);
  let tail = open();

  async function readNext(after: LogPosition): Promise<readonly Emitted[]> {
    for (let events = await tail.read(); events !== undefined; events = await tail.read()) {
      const next = events.filter((emitted) => comparePositions(getPosition(emitted), after) > 0);
      if (next.length > 0) return next;
    }
    return [];
  }

  return {
    async read(after) {
      const events = await readNext(after);
      if (events.length > 0) return events;
      // A recovered run replaces its logs.
      await tail.close();
      tail = open();
      return readNext(after);
    },
    close: async () => tail.close(),
  };
}

/** Limits on the events in memory; a reader that falls further behind reads the log. */
const MAX_EVENTS = 16_384;
const MAX_BYTES = 16 * 1024 * 1024;

/** The estimated size of an event beyond the bytes it was parsed from. */
const ENVELOPE_BYTES = 600;

/** A run's events that some reader has not read yet, within fixed bounds. */
class RecentEvents {
  #events: Emitted[] = [];
  #bytes = 0;
  #first = 0;

  /** Adds events, and drops events before the number `needed` or beyond the limits. */
  add(events: readonly Emitted[], needed: number): void {
    for (const emitted of events) {
      this.#events.push(emitted);
      this.#bytes += estimateSize(emitted);
    }
    let dropped = 0;
    while (dropped < this.#events.length) {
      const isNeeded = this.#first + dropped >= needed;
      if (isNeeded && this.#events.length - dropped <= MAX_EVENTS && this.#bytes <= MAX_BYTES) break;
      const oldest = this.#events[dropped];
      if (oldest !== undefined) this.#bytes -= estimateSize(oldest);
      dropped += 1;
    }
    if (dropped === 0) return;
    this.#first += dropped;
    this.#events = this.#events.slice(dropped);
  }

  at(index: number): Emitted | undefined {
    return this.#events[index - this.#first];
  }
}

/** Estimates an event's size. An FCMP event shares its data with the RASP event. */
export function estimateSize({ protocol, event }: Emitted): number {
  if (protocol === 'fcmp' || event.raw_ref === null) return ENVELOPE_BYTES;
  return ENVELOPE_BYTES + event.raw_ref.byte_to - event.raw_ref.byte_from;
}

/** The protocol of each event in publication order, one bit per event: each protocol has its own log. */
class ProtocolOrder {
  #bits = new Uint8Array(128);
  length = 0;

  add(protocol: Emitted['protocol']): void {
    const byte = this.length >> 3;
    if (byte >= this.#bits.length) {
      const grown = new Uint8Array(2 * this.#bits.length);
      grown.set(this.#bits);
      this.#bits = grown;
    }
    if (protocol === 'fcmp') this.#bits[byte] = (this.#bits[byte] ?? 0) | (1 << (this.length & 7));
    this.length += 1;
  }

  at(index: number): Emitted['protocol'] {
    return (((this.#bits[index >> 3] ?? 0) >> (index & 7)) & 1) === 1 ? 'fcmp' : 'rasp';
  }
}
