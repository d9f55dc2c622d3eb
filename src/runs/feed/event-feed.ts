import type { Emitted } from '../../events/index.js';
import { SluiceError } from '../../base/index.js';
import type { EventLog } from '../ports/event-log.js';
import { ProtocolOrder } from './protocol-order.js';
import { RecentEvents } from './recent-events.js';

/** Events read from the log at once. */
const PAGE = 1024;

/**
 * Tells the events of a run to any number of readers, each from the first event, each at its own pace. What a reader
 * has not had yet is in memory, within bounds; one that is slow or late is served from the log, so nothing queues up.
 */
export class EventFeed implements AsyncIterable<Emitted> {
  readonly #runId: string;
  readonly #log: EventLog;
  readonly #order = new ProtocolOrder();
  readonly #recent = new RecentEvents();
  readonly #readers = new Set<{ next: number }>();
  #waiting: (() => void)[] = [];
  #isOver = false;
  #failure: SluiceError | null = null;

  constructor(runId: string, log: EventLog) {
    this.#runId = runId;
    this.#log = log;
  }

  /** Tells events; they must be in the log. */
  publish(events: readonly Emitted[]): void {
    if (events.length === 0) return;
    let needed = this.#order.length + events.length;
    for (const { next } of this.#readers) needed = Math.min(needed, next);
    for (const { protocol } of events) this.#order.add(protocol);
    this.#recent.add(events, needed);
    this.#wake();
  }

  /** No more events will come; with a failure, because they could not be kept. */
  end(failure: SluiceError | null = null): void {
    this.#isOver = true;
    this.#failure = failure;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Emitted, undefined> {
    const history = new History(this.#runId, this.#log, this.#order);
    const reader = { next: 0 };
    this.#readers.add(reader);
    try {
      for (;;) {
        while (reader.next >= this.#order.length) {
          if (this.#failure !== null) throw this.#failure;
          if (this.#isOver) return undefined;
          await new Promise<void>((wake) => {
            this.#waiting.push(wake);
          });
        }
        const emitted = this.#recent.at(reader.next) ?? (await history.at(reader.next));
        history.pass(emitted);
        reader.next += 1;
        yield emitted;
      }
    } finally {
      this.#readers.delete(reader);
    }
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}

type Protocol = Emitted['protocol'];

/** One reader's way through the log: pages of both protocols, put together in the order in which they were told. */
class History {
  readonly #runId: string;
  readonly #log: EventLog;
  readonly #order: ProtocolOrder;
  readonly #pages: Record<Protocol, Emitted[]> = { rasp: [], fcmp: [] };
  readonly #last: Record<Protocol, string | number | undefined> = { rasp: undefined, fcmp: undefined };

  constructor(runId: string, log: EventLog, order: ProtocolOrder) {
    this.#runId = runId;
    this.#log = log;
    this.#order = order;
  }

  /** The event with this number, the first that was not passed yet. */
  async at(index: number): Promise<Emitted> {
    const protocol = this.#order.at(index);
    if (this.#pages[protocol].length === 0) await this.#readPage(protocol, index);
    const [next] = this.#pages[protocol];
    if (next !== undefined) return next;
    throw new SluiceError(
      'EVENT_LOG_INCOMPLETE',
      `The event log has lost ${protocol} events of run ${this.#runId}; rebuild them: sluice translate DIR --write.`,
    );
  }

  /** The reader has this event, wherever it came from. */
  pass({ protocol, event }: Emitted): void {
    this.#last[protocol] = protocol === 'rasp' ? `${event.attempt_number}:${event.seq}` : event.seq;
    this.#pages[protocol].shift();
  }

  async #readPage(protocol: Protocol, index: number): Promise<void> {
    let limit = 0;
    const end = Math.min(this.#order.length, index + PAGE);
    for (let next = index; next < end; next += 1) if (this.#order.at(next) === protocol) limit += 1;
    const after = this.#last[protocol];
    const query = { runId: this.#runId, protocol, limit, ...(after === undefined ? {} : { after }) };
    this.#pages[protocol] = [...(await this.#log.read(query))];
  }
}
