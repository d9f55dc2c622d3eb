import { realpath } from 'node:fs/promises';
import {
  createRunFolder,
  openRun,
  openRunLogs,
  getPackedRunPath,
  getRunFolderPath,
  type RunFolder,
} from './run-folder/index.js';
import type { Emitted } from '../events/index.js';
import { SluiceError, getErrorMessage, isSluiceError } from '../base/index.js';
import { cacheResult, emitCachedResult, findCachedResult, restoreCachedFiles } from './cache/cached-result.js';
import { EventFeed } from './capture/event-feed.js';
import { RunJournal } from './capture/run-journal.js';
import { recordUnlaunchedAttempt } from './attempts/run-attempt.js';
import { runAttempts } from './attempts/run-attempts.js';
import { RunProgress, RunUsage, type RunContext } from './attempts/run-context.js';
import { restoreSession } from './attempts/saved-session.js';
import {
  computeRemainingWait,
  createNotResumableError,
  recoverRun,
  type RecoveredRun,
} from './attempts/recover-run.js';
import { RunControl, explainStop, createStopwatch } from './attempts/run-control.js';
import { getLauncher } from './launchers/launchers.js';
import { resolvePorts, type ResolvedPorts, type RunPorts } from './ports/run-ports.js';
import { removeContainerHome } from './placement/run-container.js';
import { prepareCacheKey, findWorkdir, RunNotStartedError, lockWorkdir } from './launch/working-folder.js';
import { buildResult, createFailedResult } from './result/build-result.js';
import { RunFindings } from './result/run-findings.js';
import type { RunReply, RunResult, RunSpec } from '../store/records/index.js';
import { isPresent, makeFolder } from '../base/files/index.js';
import { checkRunSpec, resolveLimits, type CheckedSpec } from './spec/check-run-spec.js';
import type { FolderLock } from './workspace/folder-lock.js';

/** A started run. */
export interface Run {
  readonly id: string;
  /** All events from the first on, live, for any number of readers. Ends with the run. */
  readonly events: AsyncIterable<Emitted>;
  /** The result. Never rejects: a failure is reported in the result. */
  readonly result: Promise<RunResult>;
  /** Answers a question with a message, as the next attempt, or with an option. Rejects if no question is open. */
  reply(reply: RunReply): Promise<void>;
  /** Stops the run and its processes; resolves when it has ended. `reason` explains who canceled it and why. */
  cancel(reason?: string): Promise<void>;
  /**
   * Detaches from a run that is waiting for an answer: its process is stopped and `result` has the code `RUN_DETACHED`,
   * but the run has not ended; `resumeRun` continues it. Returns false, without any effect, if it is not waiting or its
   * engine cannot resume.
   */
  detach(): Promise<boolean>;
}

/**
 * Starts an agent in a working folder, captures its output, publishes events while it works, and returns one result.
 * Throws `INVALID_RUN_SPEC` for an invalid spec; later failures are reported in the result and the events.
 *
 * @example
 * const run = startRun({ engine: 'codex', prompt: 'Review src/.', workdir: '.', contract: { schema } })
 * for await (const { protocol, event } of run.events) if (protocol === 'fcmp') show(event)
 * const { status, value } = await run.result
 */
export function startRun(spec: RunSpec, ports: RunPorts = {}): Run {
  return launchRun(spec, ports, null);
}

/**
 * Continues a run that was detached or whose process was killed. Its questions are open again when this resolves; a run
 * whose agent was working continues with its next attempt. Rejects with `RUN_NOT_RESUMABLE` if it has ended.
 *
 * @example
 * const run = await resumeRun('01J…', spec)
 * await run.reply('The second one.')
 */
export async function resumeRun(id: string, spec: RunSpec, ports: RunPorts = {}): Promise<Run> {
  return new Promise((resolve, reject) => {
    const run = launchRun(spec, { ...ports, newId: () => id }, { onDone: () => resolve(run), onFailure: reject });
  });
}

interface Recovery {
  onDone(): void;
  onFailure(error: unknown): void;
}

/** The values that all steps of a run need. */
interface StartedRun extends CheckedSpec {
  readonly id: string;
  readonly ports: ResolvedPorts;
  readonly control: RunControl;
  readonly feed: EventFeed;
  readonly recovery: Recovery | null;
}

function launchRun(spec: RunSpec, ports: RunPorts, recovery: Recovery | null): Run {
  const resolved = resolvePorts(ports);
  const checked = checkRunSpec(spec, resolved);
  const id = resolved.newId();
  // Checked here, so an invalid id is the caller's error and not the run's.
  getRunFolderPath(resolved.data, id);
  const trace = ports.tracer?.startRun({ id, spec: checked.spec });
  // Makes the agent's spans part of the run's trace. This process's own TRACEPARENT is never used.
  const environment = { ...resolved.environment, TRACEPARENT: trace?.traceparent ?? spec.traceparent };
  const openLog: RunFolder['openLog'] = async (protocol) => (await openRun(resolved.data, id)).openLog(protocol);
  const log = resolved.eventLog ?? { openLog };
  const feed = new EventFeed(id, log, trace === undefined ? undefined : (event) => trace.onEvent(event));
  const control = new RunControl();
  const { canResume } = getLauncher(spec.engine, resolved.agents, resolved.launchers);
  const run = { ...checked, id, ports: { ...resolved, environment }, control, feed, recovery };
  const result = runToResult(run).then((ended) => {
    trace?.end(ended);
    return ended;
  });
  return {
    id,
    events: feed,
    result,
    async reply(reply) {
      if (typeof reply === 'string') control.reply(reply);
      else control.replyPermission(reply);
    },
    async cancel(reason = 'The run was canceled.') {
      control.requestStop({ verdict: 'canceled', reason });
      await result;
    },
    async detach() {
      if (!control.isWaiting || !canResume || control.stop !== null) return false;
      control.requestStop({ verdict: 'detached', reason: 'The run was detached while it was waiting for an answer.' });
      await result;
      return true;
    },
  };
}

async function runToResult(run: StartedRun): Promise<RunResult> {
  const { control, feed, ports, recovery } = run;
  const { logger } = ports;
  const fields = { run_id: run.id, engine: run.spec.engine };
  logger.info('run started', fields);
  try {
    const result = await runInFolder(run);
    logger.info('run ended', { ...fields, status: result.status, attempts: result.attempts });
    feed.end();
    return result;
  } catch (error) {
    recovery?.onFailure(error);
    if (isSluiceError(error) && error.code === 'RUN_DETACHED') {
      logger.info('run detached while waiting', fields);
      feed.end();
      return createFailedResult(error.code, error.message);
    }
    // Events cannot be stored, so only the result reports the failure.
    const failure = toStorageFailure(error);
    logger.error('run failed', { ...fields, code: failure.code, error: failure.message });
    feed.end(failure);
    return createFailedResult(failure.code, failure.message);
  } finally {
    control.end();
  }
}

async function runInFolder({ id, spec, schema, ports, control, feed, recovery }: StartedRun): Promise<RunResult> {
  await makeFolder(ports.data);
  const data = await realpath(ports.data);
  const runDir = getRunFolderPath(data, id);
  const isPacked = await isPresent(getPackedRunPath(ports.data, id));
  // Only runs that have ended are packed.
  if (recovery !== null && isPacked) throw createNotResumableError(id);
  const ofEngine = getLauncher(spec.engine, ports.agents, ports.launchers);
  // A plain command can print an engine's output format.
  const launcher = { ...ofEngine, format: spec.format ?? ofEngine.format };
  if (recovery !== null && ports.savedSession !== undefined) {
    const { bytes, ownsFolder } = ports.savedSession;
    await restoreSession({ id, spec, launcher, ports, runDir }, bytes, {
      workdir: await findWorkdir({ spec, ports }),
      ownsFolder,
    });
  }
  const folder = await createRunFolder(runDir, { trustedRoot: data });
  if (recovery === null && (isPacked || (await folder.attempts()).length > 0)) {
    throw new SluiceError('RUN_FOLDER_TAKEN', `"${runDir}" already contains a run. Use another run id.`);
  }
  const limits = resolveLimits(spec.limits);
  const base: Omit<RunContext, 'journal'> = {
    id,
    spec,
    schema,
    limits,
    ports,
    launcher,
    control,
    stopwatch: createStopwatch(limits.time_s, control),
    usage: new RunUsage(),
    findings: new RunFindings(),
    warnings: new Map(),
    folder,
    runDir,
    progress: new RunProgress(),
  };
  const recovered = recovery === null ? null : await reopenRun(base, feed);
  const { eventLog: log, logger, ending } = ports;
  const journal = new RunJournal(id, { files: await openRunLogs(folder), log, feed, logger, ending });
  recovery?.onDone();
  try {
    const result = await runOrUseCache({ ...base, journal }, recovered);
    await removeContainerHome(base).catch((error: unknown) => {
      logger.warn('cannot remove the home folder of a container', { run_id: id, error: getErrorMessage(error) });
    });
    return result;
  } finally {
    await journal.close();
  }
}

/** Recovers a run and reopens its questions; null if no attempt had started. */
async function reopenRun(context: Omit<RunContext, 'journal'>, feed: EventFeed): Promise<RecoveredRun | null> {
  const { control, folder, limits, ports } = context;
  if ((await folder.attempts()).length === 0) return null;
  const recovered = await recoverRun(context, feed);
  if (recovered.kind === 'question') control.ask();
  if (recovered.kind === 'permissions') {
    const waitMs = computeRemainingWait(recovered.askedAt, limits.wait_s, ports.clock());
    for (const { interaction_id, options } of recovered.questions)
      control.askPermission(interaction_id, options, waitMs);
  }
  // A question that was never published is not open: the agent asks it again when it continues.
  await (recovered.kind === 'working' ? ports.onUnanswered() : ports.onQuestion());
  return recovered;
}

async function runOrUseCache(context: RunContext, recovered: RecoveredRun | null): Promise<RunResult> {
  const {
    control,
    ports: { logger },
  } = context;
  // The caller's lock is released even if the run ends before it needs the folder.
  let lock: FolderLock | undefined = context.ports.folderLock;
  try {
    const workdir = await findWorkdir(context);
    if (recovered !== null) {
      lock = await lockWorkdir(context, workdir);
      return await runAttempts(context, workdir, recovered);
    }
    const find = async () => {
      const key = await prepareCacheKey(context, workdir);
      return { key, cached: key === undefined ? undefined : await findCachedResult(context, key) };
    };
    const { cached } = await find();
    // A result without files does not need the working folder.
    if (cached !== undefined && cached.files === undefined) return await emitCachedResult(context, cached);
    lock = await lockWorkdir(context, workdir);
    // The folder's previous user might have changed the input files.
    const current = await find();
    if (current.cached !== undefined && (await restoreCachedFiles(context, workdir, current.cached))) {
      return await emitCachedResult(context, current.cached);
    }
    const result = await runAttempts(context, workdir);
    return current.key === undefined ? result : await cacheResult(context, current.key, workdir, result);
  } catch (error) {
    if (!(error instanceof RunNotStartedError)) throw error;
    const { stop } = control;
    const end = stop === null ? ({ verdict: 'not_started', reason: error.message } as const) : explainStop(stop);
    const outcome = await recordUnlaunchedAttempt(context, end);
    return buildResult(outcome, context);
  } finally {
    await lock?.release().catch((error: unknown) => {
      logger.warn('cannot release the working folder', { run_id: context.id, error: getErrorMessage(error) });
    });
  }
}

function toStorageFailure(error: unknown): SluiceError {
  if (isSluiceError(error)) return error;
  const reason = getErrorMessage(error).replace(/[.\s]+$/, '');
  return new SluiceError(
    'RUN_STORAGE_FAILED',
    `The run was stopped because its output cannot be stored: ${reason}. Check the data folder, its permissions and free space, and the store; then run it again.`,
    { cause: error },
  );
}
