import { setTimeout as sleep } from 'node:timers/promises';
import { isSluiceError, omitUndefined } from '../../base/index.js';
import {
  ENGINE_NAMES,
  STREAMS,
  createTranslator,
  NO_TAIL,
  advanceTail,
  isEngineName,
  writeLateAnswer,
  type AttemptTail,
  type CapturedStream,
  type DrainResult,
  type DriftSummary,
  type Emitted,
  type Engine,
  type EngineName,
  type Verdict,
} from '../../events/index.js';
import { readAttemptChunks, POLL_MS, type ChunkWarning, type Following } from './attempt/attempt-chunks.js';
import { hasEnded, type AttemptMeta } from './attempt/attempt-meta.js';
import { readFsDiff } from './attempt/attempt-capture.js';
import { RunFolderError, type RunFolderWarning } from './run-folder-error.js';
import { openRunFolder, type RunFolder } from './open-run-folder.js';

/** Options for translating a run folder. */
export interface TranslateOptions {
  /** The engine that printed the bytes, or `auto`; by default the engine named in the meta file. */
  readonly engine?: EngineName | 'auto' | (string & {});
  /** Engines besides the built-in ones, for folders of runs that used them. */
  readonly engines?: readonly Engine[] | undefined;
  /** Only this attempt; by default all. */
  readonly attempt?: number;
  /**
   * Waits for further output until the meta file of the latest attempt shows that it has ended, or until this signal aborts.
   * Waits for the first attempt to start, but not for later ones.
   */
  readonly follow?: AbortSignal;
  readonly onWarning?: (warning: RunFolderWarning) => void;
  /** Called after the events of an attempt that contained unknown types or fields. */
  readonly onDrift?: (summary: DriftSummary) => void;
  /** Called with the number of bytes read so far and in total; never with `follow`, because the total is then unknown. */
  readonly onProgress?: (bytes: number, total: number) => void;
  /** Determines each attempt's verdict again; the recorded verdict by default. */
  readonly judge?: AttemptJudge;
}

/** Judges recorded attempts again: `begin`, then bytes and events as they are read, then `decide`. */
export interface AttemptJudge {
  begin(attempt: number, meta: AttemptMeta): void;
  addBytes(stream: CapturedStream, bytes: Uint8Array): void;
  addEvents(events: readonly Emitted[]): void;
  /** Called after all bytes and events were added; `meta` is final. */
  decide(drained: DrainResult, meta: AttemptMeta): Promise<{ readonly verdict?: Verdict; readonly reason?: string }>;
}

/** Where the next attempt's events continue. */
interface Handover {
  readonly tail: AttemptTail;
  readonly sessionId: string | null;
  /** Whether the conversation has started. */
  readonly isContinued: boolean;
  /** Whether the last FCMP event announces another attempt. */
  readonly isAwaited: boolean;
}

/**
 * Translates the recorded bytes of a run into events, from the first attempt to the last. Memory use does not
 * grow with the length of the logs.
 *
 * @example
 * for await (const { protocol, event } of translateRunFolder('runs/01J…')) console.log(protocol, event.seq)
 */
export async function* translateRunFolder(
  run: string | RunFolder,
  options: TranslateOptions = {},
): AsyncGenerator<Emitted> {
  const folder = typeof run === 'string' ? await openRunFolder(run) : run;
  for await (const events of translateFolder(folder, options)) for (const emitted of events) yield emitted;
}

/** Translates an open folder in batches: awaiting every single event would be too slow. */
export async function* translateFolder(folder: RunFolder, options: TranslateOptions): AsyncGenerator<Emitted[]> {
  await checkAttempt(folder, options);
  let handover: Handover = { tail: NO_TAIL, sessionId: null, isContinued: false, isAwaited: false };
  let runId: string | undefined;
  const addProgress = await createProgressCounter(folder, options);
  const last = options.attempt ?? Number.POSITIVE_INFINITY;
  let attempt = await findNextAttempt(folder, 0, options.follow);
  while (attempt !== undefined && attempt <= last) {
    const meta = await folder.meta(attempt, options.onWarning);
    runId ??= meta.run_id ?? folder.name;
    for await (const events of translateAttempt(folder, { attempt, meta, runId, handover, addProgress }, options)) {
      handover = advanceHandover(handover, events);
      // Earlier attempts are read too: sequence numbers and the session continue from them.
      if (options.attempt === undefined || options.attempt === attempt) yield events;
    }
    if (options.follow?.aborted === true) return;
    const isAwaited = handover.isAwaited && options.attempt !== undefined && attempt < last;
    const next = await findNextAttempt(folder, attempt, isAwaited ? options.follow : undefined);
    // Read again: while following, answers can arrive until the next attempt starts.
    const { answers = [] } = options.follow === undefined ? meta : await folder.meta(attempt);
    for (const { at, ...answer } of answers) {
      const events = writeLateAnswer(handover.tail, answer, Date.parse(at));
      handover = advanceHandover(handover, events);
      if (options.attempt === undefined || options.attempt === attempt) yield events;
    }
    attempt = next;
  }
  // With `follow`, the attempt could not be checked at the start.
  if (options.attempt !== undefined && options.follow?.aborted === false) {
    await checkAttempt(folder, { attempt: options.attempt });
  }
}

async function* translateAttempt(
  folder: RunFolder,
  start: {
    readonly attempt: number;
    readonly meta: AttemptMeta;
    readonly runId: string;
    readonly handover: Handover;
    readonly addProgress: (bytes: number) => void;
  },
  options: TranslateOptions,
): AsyncGenerator<Emitted[]> {
  const { attempt, meta, handover } = start;
  const warn = options.onWarning ?? ignore;
  const byteWarnings: ChunkWarning[] = [];
  const startedAt = readStartTime(meta, attempt, warn);
  let now = startedAt;
  const sessionId = meta.session_id === undefined ? handover.sessionId : meta.session_id;
  const translator = createTranslator({
    engine: findEngine(options, meta, attempt),
    engines: options.engines,
    runId: start.runId,
    attempt,
    fcmpSeq: handover.tail.fcmp?.seq,
    clock: () => now,
    mode: meta.mode,
    sessionId: sessionId ?? undefined,
    isContinued: handover.isContinued && meta.session_id === undefined,
    reply: meta.reply,
    terminalOnly: meta.terminal,
    cachedFrom: meta.cached_from,
  });
  const following: Following | undefined =
    options.follow === undefined
      ? undefined
      : { signal: options.follow, hasEnded: async () => hasEnded(await folder.meta(attempt)) };
  const { judge } = options;
  judge?.begin(attempt, meta);
  const chunks = readAttemptChunks(folder, attempt, (warning) => byteWarnings.push(warning), following);
  for await (const { ms, stream, bytes } of chunks) {
    // The clock might have been set back between two chunks, but event times must never decrease.
    if (ms !== null) now = Math.max(now, startedAt + ms);
    start.addProgress(bytes.length);
    judge?.addBytes(stream, bytes);
    const events = translator.push(stream, bytes);
    judge?.addEvents(events);
    yield events;
  }
  if (options.follow?.aborted === true) return;
  for (const warning of byteWarnings) warn(warning);

  const finalMeta = following === undefined ? meta : await folder.meta(attempt, warn);
  if (finalMeta.finished_at !== undefined) now = Math.max(now, Date.parse(finalMeta.finished_at));
  const fsDiff = await readFsDiff(folder, attempt, warn);
  const exit = { exitCode: finalMeta.exit_code ?? null, signal: finalMeta.signal ?? null };
  let decided: Pick<AttemptMeta, 'verdict' | 'reason'> = finalMeta;
  if (judge !== undefined) {
    const drained = translator.drain(exit);
    judge.addEvents(drained.events);
    yield drained.events;
    decided = await judge.decide(drained, finalMeta);
  }
  yield translator.end({
    ...exit,
    ...omitUndefined({ fsDiff, verdict: decided.verdict, reason: decided.reason, cause: finalMeta.cause }),
    warnings: byteWarnings,
  });
  const drift = translator.drift();
  if (drift !== null) options.onDrift?.(drift);
}

async function createProgressCounter(
  folder: RunFolder,
  { onProgress, follow, attempt: last = Number.POSITIVE_INFINITY }: TranslateOptions,
): Promise<(bytes: number) => void> {
  if (onProgress === undefined || follow !== undefined) return ignore;
  let total = 0;
  for (const attempt of await folder.attempts()) {
    if (attempt > last) break;
    for (const stream of STREAMS) {
      const file = await folder.openAttempt(stream, attempt);
      total += (await file?.stat())?.size ?? 0;
      await file?.close();
    }
  }
  let done = 0;
  return (bytes) => {
    done += bytes;
    onProgress(done, Math.max(done, total));
  };
}

function advanceHandover(handover: Handover, events: readonly Emitted[]): Handover {
  const tail = advanceTail(handover.tail, events);
  const { fcmp } = tail;
  return {
    tail,
    sessionId: tail.fcmp?.correlation.session_id ?? handover.sessionId,
    isContinued:
      handover.isContinued ||
      events.some(({ protocol, event }) => protocol === 'fcmp' && event.type === 'conversation.started'),
    isAwaited:
      fcmp?.type === 'user.input.required' || (fcmp?.type === 'diagnostic.warning' && CONTINUED.has(fcmp.data.code)),
  };
}

const CONTINUED: ReadonlySet<string> = new Set(['OUTPUT_RETRIED', 'PERMISSION_PENDING', 'WORKER_LOST']);

function findEngine(options: TranslateOptions, meta: AttemptMeta, attempt: number): string {
  if (options.engine !== undefined) return options.engine;
  const { engines = [] } = options;
  const isKnown = (name: string | undefined): name is string =>
    isEngineName(name) || engines.some((engine) => engine.name === name);
  if (isKnown(meta.reads)) return meta.reads;
  // The engine `command` can be any executable; its output is read as plain text.
  if (meta.engine === 'command' && meta.reads === undefined) return 'generic';
  if (meta.reads === undefined && isKnown(meta.engine)) return meta.engine;
  const engineName = meta.reads ?? meta.engine;
  const problem =
    engineName === undefined ? 'names no engine' : `names the unknown engine ${JSON.stringify(engineName)}`;
  const message = `The meta file of attempt ${attempt} ${problem}. Pass one of ${ENGINE_NAMES.join(', ')}, or auto.`;
  throw new RunFolderError('ENGINE_NOT_NAMED', message);
}

/** Whether a run's events can be rebuilt from its bytes without settings: built-in engines printed all its attempts. */
export async function canTranslate(folder: RunFolder): Promise<boolean> {
  try {
    const attempts = await folder.attempts();
    for (const attempt of attempts) findEngine({}, await folder.meta(attempt), attempt);
    return attempts.length > 0;
  } catch (error) {
    // No engine is named, or an agent replaced a file.
    if (isSluiceError(error)) return false;
    throw error;
  }
}

/** Without a start time the events are dated from 1970, so every translation has the same times. */
function readStartTime(meta: AttemptMeta, attempt: number, warn: (warning: RunFolderWarning) => void): number {
  if (meta.started_at !== undefined) return Date.parse(meta.started_at);
  const message = `The start time of attempt ${attempt} is unknown: its events are dated from 1970.`;
  warn({ code: 'START_TIME_UNKNOWN', attempt, message });
  return 0;
}

/** Throws if a folder contains no run, or not the requested attempt. */
export async function checkAttempt(folder: RunFolder, { attempt, follow }: TranslateOptions): Promise<void> {
  const attempts = await folder.attempts();
  if (attempts.length === 0 && follow === undefined) {
    const message = `"${folder.place}" contains no run: it has neither stdout.N.log nor meta.N.json. Pass the folder of a run that was started.`;
    throw new RunFolderError('RUN_FOLDER_EMPTY', message);
  }
  if (attempt !== undefined && follow === undefined && !attempts.includes(attempt)) {
    const message = `"${folder.place}" has no attempt ${attempt}. Pass one of ${attempts.join(', ')}.`;
    throw new RunFolderError('ATTEMPT_NOT_FOUND', message);
  }
}

/** Returns the next attempt; with a signal, waits until it exists. */
async function findNextAttempt(folder: RunFolder, after: number, wait?: AbortSignal): Promise<number | undefined> {
  for (;;) {
    const next = (await folder.attempts()).find((attempt) => attempt > after);
    if (next !== undefined || wait === undefined || wait.aborted) return next;
    await sleep(POLL_MS, undefined, { signal: wait }).catch(ignore);
  }
}

function ignore(): void {}
