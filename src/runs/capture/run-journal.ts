import { setTimeout as pause } from 'node:timers/promises';
import { getErrorMessage, type Logger } from '../../base/index.js';
import { packEvents } from '../../events/index.js';
import type { DriftSummary, Emitted, EventPack } from '../../events/index.js';
import type { RunLogs } from '../run-folder/index.js';
import { type EventLog, isOutage } from '../../store/ports/index.js';
import { estimateSize } from './event-feed.js';
import type { EventFeed } from './event-feed.js';

export interface RunJournal {
  /**
   * Stores events, then publishes them. While the event log is unavailable, they are queued in memory, and this
   * resolves once they are in the folder. If too many are queued, it resolves when there is space again, which makes
   * the agent wait.
   */
  write(events: readonly Emitted[]): Promise<void>;
  /** Stores the counts of unknown types and fields in an attempt's output. */
  writeDrift(summary: DriftSummary): Promise<void>;
  /** The numbers of events and characters written so far. */
  readonly size: { readonly events: number; readonly characters: number };
  /** Resolves when everything is stored and published. */
  close(): Promise<void>;
}

interface JournalOptions {
  readonly files: RunLogs;
  /** Null if the run folder's files are the event log. */
  readonly log: EventLog | null;
  readonly feed: EventFeed;
  readonly logger: Logger;
  /** Aborted when this process must exit: events not yet in the log stay in the folder. */
  readonly ending: AbortSignal;
}

export function createRunJournal(runId: string, { files, log, feed, logger, ending }: JournalOptions): RunJournal {
  const queue = log === null ? null : new LogQueue(runId, { log, feed, logger, ending });
  const size = { events: 0, characters: 0 };
  return {
    size,
    async write(events) {
      if (events.length === 0) return;
      const packs = packEvents(events);
      size.events += events.length;
      for (const { lines } of packs) size.characters += lines.length;
      const inFolder = files.append(events, packs);
      if (queue !== null) return queue.write({ events, packs, inFolder });
      await inFolder;
      feed.publish(events);
    },
    writeDrift: async (summary) => files.appendDrift(summary),
    async close() {
      try {
        await queue?.flush();
      } finally {
        await files.close();
      }
    },
  };
}

/** The events of one write. `inFolder` resolves once they are in the run folder. */
interface Batch {
  readonly events: readonly Emitted[];
  readonly packs: readonly EventPack[];
  readonly inFolder: Promise<void>;
}

const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5000;
/** If the event log is unavailable for longer than this, the run fails. */
const MAX_OUTAGE_MS = 10 * 60_000;

/** Appends events to the log in order, one call at a time, and retries a call while the log is unavailable. */
class LogQueue {
  readonly #runId: string;
  readonly #ports: Pick<JournalOptions, 'feed' | 'logger' | 'ending'> & { readonly log: EventLog };
  #waiting: Batch[] = [];
  #waitingBytes = 0;
  #written = 0;
  #stored = 0;
  #isDraining = false;
  #isUnavailable = false;
  #failure: Error | undefined;
  #waiters: (() => void)[] = [];

  constructor(runId: string, ports: Pick<JournalOptions, 'feed' | 'logger' | 'ending'> & { readonly log: EventLog }) {
    this.#runId = runId;
    this.#ports = ports;
  }

  async write(batch: Batch): Promise<void> {
    const { events, inFolder } = batch;
    // Awaited below. If the log fails first, this prevents an unhandled rejection.
    inFolder.catch(() => undefined);
    this.#waiting.push(batch);
    this.#waitingBytes += sumSizes(events);
    this.#written += 1;
    const batchNumber = this.#written;
    if (!this.#isDraining) void this.#drain();
    await this.#waitUntil(
      () => this.#stored >= batchNumber || (this.#isUnavailable && this.#waitingBytes <= MAX_WAITING_BYTES),
    );
    await inFolder;
  }

  async flush(): Promise<void> {
    await this.#waitUntil(() => this.#stored === this.#written);
  }

  async #waitUntil(isReached: () => boolean): Promise<void> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      if (isReached()) return;
      await new Promise<void>((wake) => {
        this.#waiters.push(wake);
      });
    }
  }

  #wakeWaiters(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    const { feed } = this.#ports;
    try {
      while (this.#waiting.length > 0) {
        const batches = this.#waiting;
        this.#waiting = [];
        const events = batches.length === 1 ? (batches[0]?.events ?? []) : batches.flatMap((batch) => batch.events);
        const packs = batches.length === 1 ? (batches[0]?.packs ?? []) : batches.flatMap((batch) => batch.packs);
        await Promise.all([this.#append(events, packs), ...batches.map(({ inFolder }) => inFolder)]);
        feed.publish(events);
        this.#waitingBytes -= sumSizes(events);
        this.#stored += batches.length;
        this.#wakeWaiters();
      }
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(getErrorMessage(error));
      this.#wakeWaiters();
    }
    this.#isDraining = false;
  }

  /** Appends events, with retries: the log ignores events that it already has. */
  async #append(events: readonly Emitted[], packs: readonly EventPack[]): Promise<void> {
    const { log, logger, ending } = this.#ports;
    let since: number | undefined;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await log.append(this.#runId, events, packs);
        if (this.#isUnavailable)
          logger.info('event log available again', { run_id: this.#runId, events: events.length });
        this.#isUnavailable = false;
        return;
      } catch (error) {
        since ??= performance.now();
        if (!isOutage(error) || ending.aborted || performance.now() - since > MAX_OUTAGE_MS) throw error;
        if (!this.#isUnavailable) {
          logger.warn('event log not available, the run continues', {
            run_id: this.#runId,
            error: getErrorMessage(error),
          });
        }
        this.#isUnavailable = true;
        this.#wakeWaiters();
        const ms = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
        await pause(ms, undefined, { signal: ending }).catch(() => undefined);
      }
    }
  }
}

function sumSizes(events: readonly Emitted[]): number {
  return events.reduce((bytes, emitted) => bytes + estimateSize(emitted), 0);
}
