import { openAttemptCapture, writeAttemptMeta, writeFsDiff } from '../run-folder/index.js';
import type {
  AttemptCapture,
  AttemptMeta,
  CapturedChunk,
  WritableRunFolder,
  StreamDigest,
} from '../run-folder/index.js';
import type { RunSandbox } from '../../store/records/index.js';
import { advanceTail, createTranslator, isRasp } from '../../events/index.js';
import type {
  AttemptEnd,
  AttemptTail,
  DrainResult,
  DriftSummary,
  Emitted,
  Engine,
  FcmpEvent,
  Translator,
} from '../../events/index.js';
import type { AnswerCollector } from '../judge/answer.js';
import type { RunJournal } from './run-journal.js';

export interface RecordedStart {
  readonly runId: string;
  readonly attempt: number;
  readonly engine: string;
  /** The name of the engine that reads its output. */
  readonly format: string;
  /** Engines besides the built-in ones. */
  readonly engines?: readonly Engine[];
  readonly mode: 'auto' | 'interactive';
  /** The last events of the run so far. */
  readonly tail: AttemptTail;
  /** The session it resumes; null for a new one. */
  readonly sessionId: string | null;
  readonly reply: string | null;
  readonly cachedFrom: string | null;
  readonly terminal: boolean;
  readonly answer: AnswerCollector;
}

/** Callbacks before and after events are published. */
export interface PublicationObserver {
  beforePublishing(events: readonly Emitted[]): Promise<void>;
  afterPublishing(): void;
}

export interface RecordedEnd extends Omit<AttemptEnd, 'warnings'> {
  readonly pid?: number | undefined;
  readonly version?: string | undefined;
  readonly sandbox?: RunSandbox | undefined;
}

/**
 * A hundred bytes of short lines become twenty or more events, so processing a large chunk in one step would block this
 * process for seconds. Events do not depend on how the bytes are split.
 */
const MAX_EVENTS_PER_BATCH = 2000;
const SLICE_BYTES = 8 * 1024;

function* splitBytes(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += SLICE_BYTES) yield bytes.subarray(start, start + SLICE_BYTES);
}

/**
 * Records an attempt and publishes its events. The order is crash-safe: bytes are written before the events parsed from
 * them, the meta file before the last events, and everything is written before it is published. Events use the times
 * recorded in the files, so a replay produces the same events.
 */
export class AttemptRecord {
  readonly #start: RecordedStart;
  readonly #folder: WritableRunFolder;
  readonly #journal: RunJournal;
  readonly #clock: () => number;
  readonly #startedAt: number;
  readonly #translator: Translator;
  #meta: AttemptMeta;
  #capture: AttemptCapture | null = null;
  /** The latest clock reading; it never decreases, even if the clock is set back. */
  #now: number;
  /** The time of the events that are being emitted. */
  #emitTime: number;
  /** The last published events. */
  tail: AttemptTail;
  /** Called before and after events are published. */
  observer: PublicationObserver | null = null;
  #drained: DrainResult | null = null;

  constructor(start: RecordedStart, folder: WritableRunFolder, journal: RunJournal, clock: () => number) {
    this.#start = start;
    this.#folder = folder;
    this.#journal = journal;
    this.#clock = clock;
    this.#startedAt = Math.floor(clock());
    this.#now = this.#startedAt;
    this.#emitTime = this.#startedAt;
    this.tail = start.tail;
    const { runId, attempt, mode, tail, sessionId, reply, cachedFrom } = start;
    this.#translator = createTranslator({
      engine: start.format,
      engines: start.engines,
      runId,
      attempt,
      mode,
      fcmpSeq: tail.fcmp?.seq,
      sessionId: sessionId ?? undefined,
      reply: reply ?? undefined,
      cachedFrom: cachedFrom ?? undefined,
      terminalOnly: start.terminal,
      clock: () => this.#emitTime,
    });
    this.#meta = {
      run_id: runId,
      engine: start.engine,
      ...(start.engine === start.format || isPlainText(start) ? {} : { reads: start.format }),
      mode,
      ...(start.terminal ? { terminal: true } : {}),
      started_at: new Date(this.#startedAt).toISOString(),
      session_id: sessionId,
      ...(reply === null ? {} : { reply }),
      ...(cachedFrom === null ? {} : { cached_from: cachedFrom }),
    };
  }

  /** Unknown types and fields in the engine's output, or null. */
  get drift(): DriftSummary | null {
    return this.#translator.drift();
  }

  /** Digests of each captured stream; final after `end`. */
  get captured(): readonly StreamDigest[] {
    return this.#capture?.digests() ?? [];
  }

  /** Milliseconds since the attempt started. */
  now(): number {
    this.#now = Math.max(this.#now, Math.floor(this.#clock()));
    return this.#now - this.#startedAt;
  }

  /** Records the start of the attempt, with its command and input, neither of which may contain secrets. */
  async begin(start: { readonly command?: readonly string[]; readonly input?: string } = {}): Promise<void> {
    if (start.command !== undefined) this.#meta = { ...this.#meta, command: start.command };
    await writeAttemptMeta(this.#folder, this.#start.attempt, this.#meta);
    if (start.input === undefined) return;
    this.#capture = await openAttemptCapture(this.#folder, this.#start.attempt);
    if (start.input !== '') await this.#capture.writeInput(Buffer.from(start.input));
  }

  /** Stores output and publishes the events parsed from it. */
  async write(chunks: readonly CapturedChunk[]): Promise<readonly Emitted[]> {
    await this.#capture?.write(chunks);
    const published: Emitted[][] = [];
    let events: Emitted[] = [];
    for (const { stream, bytes, ms } of chunks) {
      this.#emitTime = this.#startedAt + ms;
      this.#start.answer.addBytes(stream, bytes);
      for (const slice of splitBytes(bytes)) {
        for (const emitted of this.#translator.push(stream, slice)) events.push(emitted);
        if (events.length < MAX_EVENTS_PER_BATCH) continue;
        await this.#addAndEmit(events);
        published.push(events);
        events = [];
      }
    }
    await this.#addAndEmit(events);
    return [...published.flat(), ...events];
  }

  async #addAndEmit(events: readonly Emitted[]): Promise<void> {
    this.#start.answer.addEvents(events);
    await this.#emit(events);
  }

  /** Returns the findings from the output so far; the attempt continues. */
  peek(): Omit<DrainResult, 'events'> {
    return this.#translator.peek();
  }

  /** Marks the end of the bytes. `emitEnd` publishes the pending events, because only `end` writes their time to the files. */
  drain(exit: Pick<AttemptEnd, 'exitCode' | 'signal'>): DrainResult {
    this.#emitTime = this.#startedAt + this.now();
    this.#drained = this.#translator.drain(exit);
    this.#start.answer.addEvents(this.#drained.events);
    return this.#drained;
  }

  /** Records how the attempt ended, and returns its last events, which `emitEnd` publishes. */
  async end(end: RecordedEnd): Promise<{ readonly events: readonly Emitted[]; readonly last: FcmpEvent }> {
    const { attempt } = this.#start;
    const drained = this.#drained ?? this.drain(end);
    await this.#capture?.close();
    if (end.fsDiff !== undefined) await writeFsDiff(this.#folder, attempt, end.fsDiff);
    const events = [...drained.events, ...this.#translator.end(end)];
    const { exitCode, signal, verdict, reason, cause, pid, version, sandbox } = end;
    await writeAttemptMeta(this.#folder, attempt, {
      ...this.#meta,
      finished_at: new Date(this.#emitTime).toISOString(),
      exit_code: exitCode,
      signal,
      ...(verdict === undefined ? {} : { verdict }),
      ...(reason === undefined ? {} : { reason }),
      ...(cause === undefined ? {} : { cause }),
      ...findReasonCode(events),
      ...(pid === undefined ? {} : { pid }),
      ...(version === undefined ? {} : { version }),
      ...(sandbox === undefined ? {} : { sandbox }),
    });
    const last = events.findLast(({ protocol }) => protocol === 'fcmp');
    if (last?.protocol !== 'fcmp') throw new TypeError('An attempt always ends with an FCMP event.');
    return { events, last: last.event };
  }

  /** Publishes the last events. */
  async emitEnd(events: readonly Emitted[]): Promise<void> {
    await this.#emit(events);
    const { drift } = this;
    if (drift !== null) await this.#journal.writeDrift(drift);
  }

  async #emit(events: readonly Emitted[]): Promise<void> {
    this.tail = advanceTail(this.tail, events);
    await this.observer?.beforePublishing(events);
    await this.#journal.write(events);
    this.observer?.afterPublishing();
  }

  async close(): Promise<void> {
    await this.#capture?.close().catch(() => undefined);
  }
}

function findReasonCode(events: readonly Emitted[]): Pick<AttemptMeta, 'reason_code'> {
  for (const { protocol, event } of events) {
    if (protocol === 'rasp' && isRasp(event, 'lifecycle.completion.state'))
      return { reason_code: event.data.reason_code };
  }
  return {};
}

/** Whether a plain command's output is treated as text, the default for `command`. */
function isPlainText({ engine, format }: Pick<RecordedStart, 'engine' | 'format'>): boolean {
  return engine === 'command' && format === 'generic';
}
