import { openAttemptCapture, writeAttemptMeta, writeFsDiff } from '../run-folder/index.js';
import type { AttemptCapture, AttemptMeta, CapturedChunk, StreamDigest } from '../run-folder/index.js';
import { omitUndefined } from '../../base/index.js';
import type { RunSandbox } from '../../store/records/index.js';
import { advanceTail, createTranslator, isRasp } from '../../events/index.js';
import type { AttemptEnd, DrainResult, Emitted, FcmpEvent, Translator } from '../../events/index.js';
import type { AnswerCollector } from '../judge/answer.js';
import { addFindings, getRunMode, type RunContext } from '../attempts/run-context.js';
import { addDrift, mergeFsDiffs } from '../result/run-findings.js';

interface RecordedStart {
  /** The session it resumes; null for a new one. */
  readonly sessionId: string | null;
  readonly reply: string | null;
  readonly answer: AnswerCollector;
  /** The run whose result it repeats, without starting a process. */
  readonly cachedFrom?: string;
}

interface PublicationObserver {
  beforePublishing(events: readonly Emitted[]): Promise<void>;
  afterPublishing(): void;
}

interface RecordedEnd extends Omit<AttemptEnd, 'warnings'> {
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
 * Records the run's next attempt and publishes its events. The order is crash-safe: bytes are written before the events
 * parsed from them, the meta file before the last events, and everything is written before it is published. Events use
 * the times recorded in the files, so a replay produces the same events.
 */
export class AttemptRecord {
  readonly #context: RunContext;
  readonly #attempt: number;
  readonly #answer: AnswerCollector;
  readonly #startedAt: number;
  readonly #translator: Translator;
  #meta: AttemptMeta;
  #capture: AttemptCapture | null = null;
  /** The latest clock reading; it never decreases, even if the clock is set back. */
  #now: number;
  /** The time of the events that are being emitted. */
  #emitTime: number;
  observer: PublicationObserver | null = null;
  #drained: DrainResult | null = null;

  constructor(context: RunContext, { sessionId, reply, answer, cachedFrom }: RecordedStart) {
    const { id, launcher, ports, progress, spec } = context;
    progress.attempts += 1;
    progress.sessionId = sessionId;
    this.#context = context;
    this.#attempt = progress.attempts;
    this.#answer = answer;
    this.#startedAt = Math.floor(ports.clock());
    this.#now = this.#startedAt;
    this.#emitTime = this.#startedAt;
    const isCached = cachedFrom !== undefined;
    const [engine, format] = isCached ? ['generic', 'generic'] : [spec.engine, launcher.format];
    const terminal = !isCached && spec.terminal === true;
    const mode = getRunMode(context);
    this.#translator = createTranslator({
      engine: format,
      engines: ports.engines,
      runId: id,
      attempt: this.#attempt,
      mode,
      fcmpSeq: progress.tail.fcmp?.seq,
      sessionId: sessionId ?? undefined,
      reply: reply ?? undefined,
      cachedFrom,
      terminalOnly: terminal,
      clock: () => this.#emitTime,
    });
    this.#meta = {
      run_id: id,
      engine,
      // A plain command's output is treated as text by default.
      ...(engine === format || (engine === 'command' && format === 'generic') ? {} : { reads: format }),
      mode,
      ...(terminal ? { terminal: true } : {}),
      started_at: new Date(this.#startedAt).toISOString(),
      session_id: sessionId,
      ...omitUndefined({ reply: reply ?? undefined, cached_from: cachedFrom }),
    };
  }

  /** Digests of each captured stream; final after `end`. */
  get captured(): readonly StreamDigest[] {
    return this.#capture?.digests() ?? [];
  }

  /** Milliseconds since the attempt started. */
  now(): number {
    this.#now = Math.max(this.#now, Math.floor(this.#context.ports.clock()));
    return this.#now - this.#startedAt;
  }

  /** Records the start of the attempt, with its command and input, neither of which may contain secrets. */
  async begin(start: { readonly command?: readonly string[]; readonly input?: string } = {}): Promise<void> {
    if (start.command !== undefined) this.#meta = { ...this.#meta, command: start.command };
    await writeAttemptMeta(this.#context.folder, this.#attempt, this.#meta);
    if (start.input === undefined) return;
    this.#capture = await openAttemptCapture(this.#context.folder, this.#attempt);
    if (start.input !== '') await this.#capture.writeInput(Buffer.from(start.input));
  }

  async write(chunks: readonly CapturedChunk[]): Promise<void> {
    await this.#capture?.write(chunks);
    let events: Emitted[] = [];
    for (const { stream, bytes, ms } of chunks) {
      this.#emitTime = this.#startedAt + ms;
      this.#answer.addBytes(stream, bytes);
      for (const slice of splitBytes(bytes)) {
        for (const emitted of this.#translator.push(stream, slice)) events.push(emitted);
        if (events.length < MAX_EVENTS_PER_BATCH) continue;
        await this.#addAndEmit(events);
        events = [];
      }
    }
    await this.#addAndEmit(events);
  }

  async #addAndEmit(events: readonly Emitted[]): Promise<void> {
    this.#answer.addEvents(events);
    await this.#emit(events);
    addFindings(this.#context, events);
  }

  /** Returns the findings from the output so far; the attempt continues. */
  peek(): Omit<DrainResult, 'events'> {
    return this.#translator.peek();
  }

  /** Marks the end of the bytes. `end` publishes the pending events, because only it writes their time to the files. */
  drain(exit: Pick<AttemptEnd, 'exitCode' | 'signal'>): DrainResult {
    this.#emitTime = this.#startedAt + this.now();
    this.#drained = this.#translator.drain(exit);
    this.#answer.addEvents(this.#drained.events);
    addFindings(this.#context, this.#drained.events);
    return this.#drained;
  }

  /**
   * Records how the attempt ended, and publishes its last events. A question is open before that, because a reader could
   * answer at once.
   */
  async end(end: RecordedEnd): Promise<{ readonly events: readonly Emitted[]; readonly last: FcmpEvent }> {
    const { control, folder, journal, ports, progress } = this.#context;
    const drained = this.#drained ?? this.drain(end);
    await this.#capture?.close();
    if (end.fsDiff !== undefined) {
      progress.artifacts = mergeFsDiffs(progress.artifacts, end.fsDiff);
      await writeFsDiff(folder, this.#attempt, end.fsDiff);
    }
    const lastEvents = this.#translator.end(end);
    const events = [...drained.events, ...lastEvents];
    const { exitCode, signal, verdict, reason, cause, pid, version, sandbox } = end;
    await writeAttemptMeta(folder, this.#attempt, {
      ...this.#meta,
      finished_at: new Date(this.#emitTime).toISOString(),
      exit_code: exitCode,
      signal,
      ...omitUndefined({ verdict, reason, cause }),
      ...findReasonCode(events),
      ...omitUndefined({ pid, version, sandbox }),
    });
    const last = events.findLast(({ protocol }) => protocol === 'fcmp');
    if (last?.protocol !== 'fcmp') throw new TypeError('An attempt always ends with an FCMP event.');
    addFindings(this.#context, lastEvents);
    if (last.event.type === 'user.input.required') {
      control.ask();
      await ports.onQuestion();
    }
    await this.#emit(events);
    const drift = this.#translator.drift();
    progress.drift = addDrift(progress.drift, drift);
    if (drift !== null) await journal.writeDrift(drift);
    return { events, last: last.event };
  }

  async #emit(events: readonly Emitted[]): Promise<void> {
    const { journal, progress } = this.#context;
    progress.tail = advanceTail(progress.tail, events);
    await this.observer?.beforePublishing(events);
    await journal.write(events);
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
