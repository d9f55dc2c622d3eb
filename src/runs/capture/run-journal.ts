import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { getErrorMessage, type Logger } from '../../base/index.js';
import { packEvents, type DriftSummary, type Emitted, type EventPack } from '../../events/index.js';
import type { RunLogs } from '../run-folder/index.js';
import { type EventLog, isOutage } from '../../store/ports/index.js';
import { estimateSize, type EventFeed } from './event-feed.js';

interface JournalPorts {
  readonly files: RunLogs;
  /** Null if the run folder's files are the event log. */
  readonly log: EventLog | null;
  readonly feed: EventFeed;
  readonly logger: Logger;
  /** Aborted when this process must exit: events not yet in the log stay in the folder. */
  readonly ending: AbortSignal;
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

/**
 * Stores a run's events in its folder and in the event log, then publishes them. The log gets them in order, one call at
 * a time; a call is retried while the log is unavailable.
 */
export class RunJournal {
  readonly #runId: string;
  readonly #ports: JournalPorts;
  /** The numbers of events and characters written so far. */
  readonly size = { events: 0, characters: 0 };
  #waiting: Batch[] = [];
  #waitingBytes = 0;
  /** Settles when everything is in the log, or failed. */
  #draining: Promise<void> | null = null;
  #isUnavailable = false;
  #failure: { readonly error: unknown } | null = null;
  /** Emits `change` when a writer may continue. */
  readonly #progress = new EventEmitter().setMaxListeners(0);

  constructor(runId: string, ports: JournalPorts) {
    this.#runId = runId;
    this.#ports = ports;
  }

  /**
   * Stores events, then publishes them. While the event log is unavailable, they are queued in memory, and this
   * resolves once they are in the folder. If too many are queued, it resolves when there is space again, which makes
   * the agent wait.
   */
  async write(events: readonly Emitted[]): Promise<void> {
    if (events.length === 0) return;
    const { files, log, feed } = this.#ports;
    const packs = packEvents(events);
    this.size.events += events.length;
    for (const { lines } of packs) this.size.characters += lines.length;
    const inFolder = files.append(events, packs);
    if (log !== null) return this.#enqueue({ events, packs, inFolder }, log);
    await inFolder;
    feed.publish(events);
  }

  async writeDrift(summary: DriftSummary): Promise<void> {
    await this.#ports.files.appendDrift(summary);
  }

  /** Resolves when everything is stored and published. */
  async close(): Promise<void> {
    try {
      await this.#draining;
      this.#throwFailure();
    } finally {
      await this.#ports.files.close();
    }
  }

  async #enqueue(batch: Batch, log: EventLog): Promise<void> {
    // Awaited below. If the log fails first, this prevents an unhandled rejection.
    batch.inFolder.catch(() => undefined);
    this.#throwFailure();
    this.#waiting.push(batch);
    this.#waitingBytes += sumSizes(batch.events);
    this.#draining ??= this.#drain(log);
    while (this.#draining !== null && !(this.#isUnavailable && this.#waitingBytes <= MAX_WAITING_BYTES))
      await once(this.#progress, 'change');
    this.#throwFailure();
    await batch.inFolder;
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  async #drain(log: EventLog): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const batches = this.#waiting;
        this.#waiting = [];
        const events = batches.flatMap((batch) => batch.events);
        const packs = batches.flatMap((batch) => batch.packs);
        await Promise.all([this.#append(log, events, packs), ...batches.map(({ inFolder }) => inFolder)]);
        this.#ports.feed.publish(events);
        this.#waitingBytes -= sumSizes(events);
      }
    } catch (error) {
      this.#failure = { error };
    }
    this.#draining = null;
    this.#progress.emit('change');
  }

  /** Appends events, with retries: the log ignores events that it already has. */
  async #append(log: EventLog, events: readonly Emitted[], packs: readonly EventPack[]): Promise<void> {
    const { logger, ending } = this.#ports;
    const fields = { run_id: this.#runId };
    let since: number | undefined;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await log.append(this.#runId, events, packs);
        if (this.#isUnavailable) logger.info('event log available again', { ...fields, events: events.length });
        this.#isUnavailable = false;
        return;
      } catch (error) {
        since ??= performance.now();
        if (!isOutage(error) || ending.aborted || performance.now() - since > MAX_OUTAGE_MS) throw error;
        if (!this.#isUnavailable)
          logger.warn('event log not available, the run continues', { ...fields, error: getErrorMessage(error) });
        this.#isUnavailable = true;
        this.#progress.emit('change');
        const ms = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
        await pause(ms, undefined, { signal: ending }).catch(() => undefined);
      }
    }
  }
}

function sumSizes(events: readonly Emitted[]): number {
  return events.reduce((bytes, emitted) => bytes + estimateSize(emitted), 0);
}
