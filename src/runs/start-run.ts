import { realpath } from 'node:fs/promises';
import { createRunFolder, openRunLogs, getPackedRunPath, getRunFolderPath } from '../run-folder/index.js';
import type { Emitted } from '../events/index.js';
import { SluiceError, getErrorMessage, isSluiceError } from '../base/index.js';
import { cacheResult, emitCachedResult, findCachedResult, restoreCachedFiles } from './cache/cached-result.js';
import type { CachedResult } from './cache/result-cache.js';
import { EventFeed } from './capture/event-feed.js';
import { createRunJournal } from './capture/run-journal.js';
import { recordUnstarted } from './attempts/run-attempt.js';
import { runAttempts } from './attempts/run-attempts.js';
import type { RunContext } from './attempts/run-context.js';
import { recoverRun, computeRemainingWait } from './attempts/recover-run.js';
import type { RecoveredRun } from './attempts/recover-run.js';
import { RunControl, explainStop } from './attempts/run-control.js';
import { RunUsage } from './attempts/run-context.js';
import { createStopwatch } from './attempts/stopwatch.js';
import type { Launcher } from './launchers/launcher.js';
import { getLauncher } from './launchers/launchers.js';
import { decidePorts } from './ports/run-ports.js';
import type { DecidedPorts, RunPorts } from './ports/run-ports.js';
import { prepareCacheKey, findWorkdir, NotStarted, claimWorkdir } from './launch/working-folder.js';
import { buildResult, createFailedResult } from './result/build-result.js';
import { NO_CHANGES } from './result/merge-fs-diffs.js';
import { RunFindings } from './result/run-findings.js';
import type { RunReply, RunResult, RunSpec } from '../records/index.js';
import { isPresent, makeFolder } from '../files/index.js';
import type { CheckedSpec } from './spec/check-run-spec.js';
import { checkRunSpec } from './spec/check-run-spec.js';
import { decideLimits } from './spec/run-limits.js';
import type { FolderLock } from './workspace/folder-lock.js';

/** A run that was started. */
export interface Run {
  readonly id: string;
  /** All events from the first, live; any number of readers. Ends with the run. */
  readonly events: AsyncIterable<Emitted>;
  /** The result. Never rejects: whatever goes wrong is in it. */
  readonly result: Promise<RunResult>;
  /**
   * Answers `user.input.required` with a text, which resumes the session as the next attempt, or `permission.required` with
   * one of its options. Rejects if nothing was asked.
   */
  reply(reply: RunReply): Promise<void>;
  /**
   * Ends the run and all its processes; resolves when it has ended. Does nothing after the end. `reason`: a sentence that
   * says who ended it and why.
   */
  cancel(reason?: string): Promise<void>;
  /**
   * Leaves a run that waits for an answer: its process is ended and `result` has the code `RUN_DETACHED`, but the run has
   * not ended; `resumeRun` continues it. Returns false, without any effect, if it is not waiting or its engine cannot resume.
   */
  detach(): Promise<boolean>;
}

/**
 * Starts an agent in a working folder, captures it, publishes events while it works, and returns one result. Throws
 * `INVALID_RUN_SPEC` for a spec that cannot be run; everything that goes wrong later is in the result and the events.
 *
 * @example
 * const run = startRun({ engine: 'codex', prompt: 'Review src/.', workdir: '.', contract: { schema } })
 * for await (const { protocol, event } of run.events) if (protocol === 'fcmp') show(event)
 * const { status, value } = await run.result
 */
export function startRun(spec: RunSpec, ports: RunPorts = {}): Run {
  return beginRun(spec, ports, null);
}

/**
 * Continues a run that was detached or whose process was killed. Its questions are open again when this resolves; a run
 * that was executing continues with its next attempt. Rejects with `RUN_NOT_RESUMABLE` if it has ended.
 *
 * @example
 * const run = await resumeRun('01J…', spec)
 * await run.reply('The second one.')
 */
export async function resumeRun(id: string, spec: RunSpec, ports: RunPorts = {}): Promise<Run> {
  return new Promise((resolve, reject) => {
    const run = beginRun(spec, { ...ports, newId: () => id }, { onDone: () => resolve(run), onFailure: reject });
  });
}

/** Called when a run is recovered, or cannot be. */
interface Recovery {
  onDone(): void;
  onFailure(error: unknown): void;
}

function beginRun(spec: RunSpec, ports: RunPorts, recovery: Recovery | null): Run {
  const decided = decidePorts(ports);
  const checked = checkRunSpec(spec, decided);
  const id = decided.newId();
  // Checked here, so that a bad id is the caller's error and not the run's.
  getRunFolderPath(decided.data, id);
  const trace = ports.tracer?.startRun({ id, spec: checked.spec });
  // So that what the agent itself records joins the trace. Never the one of this process.
  const environment = { ...decided.environment, TRACEPARENT: trace?.traceparent ?? spec.traceparent };
  const feed = new EventFeed(id, decided.eventLog, trace === undefined ? undefined : (event) => trace.onEvent(event));
  const control = new RunControl();
  const { canResume } = getLauncher(spec.engine, decided.agents, decided.launchers);
  const result = runToResult(id, checked, { ...decided, environment }, control, feed, recovery).then((ended) => {
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
      control.requestStop({ verdict: 'detached', reason: 'The run was detached while it waits for an answer.' });
      await result;
      return true;
    },
  };
}

async function runToResult(
  id: string,
  checked: CheckedSpec,
  ports: DecidedPorts,
  control: RunControl,
  feed: EventFeed,
  recovery: Recovery | null,
): Promise<RunResult> {
  const { logger } = ports;
  const fields = { run_id: id, engine: checked.spec.engine };
  logger.info('run started', fields);
  try {
    const result = await runInFolder(id, checked, ports, control, feed, recovery);
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
    // The folder or the log is broken: no event can be written, so only the result reports it.
    const failure = toStorageFailure(error);
    logger.error('run failed', { ...fields, code: failure.code, error: failure.message });
    feed.end(failure);
    return createFailedResult(failure.code, failure.message);
  } finally {
    control.end();
  }
}

async function runInFolder(
  id: string,
  { spec, schema }: CheckedSpec,
  ports: DecidedPorts,
  control: RunControl,
  feed: EventFeed,
  recovery: Recovery | null,
): Promise<RunResult> {
  await makeFolder(ports.data);
  const data = await realpath(ports.data);
  const runDir = getRunFolderPath(data, id);
  const isPacked = await isPresent(getPackedRunPath(ports.data, id));
  const folder = await createRunFolder(runDir, { below: data });
  if (recovery === null && (isPacked || (await folder.attempts()).length > 0)) {
    throw new SluiceError('RUN_FOLDER_TAKEN', `"${runDir}" already contains a run. Use another run id.`);
  }
  const limits = decideLimits(spec.limits);
  const base: Omit<RunContext, 'journal'> = {
    id,
    spec,
    schema,
    limits,
    ports,
    launcher: chooseLauncher(spec, ports),
    control,
    stopwatch: createStopwatch(limits.time_s, control),
    usage: new RunUsage(),
    findings: new RunFindings(),
    warnings: new Map(),
    folder,
    runDir,
    progress: {
      attempts: 0,
      fcmpSeq: 0,
      printed: 0,
      replies: 0,
      sessionId: null,
      text: undefined,
      leftover: [],
      captured: [],
      sandbox: undefined,
    },
  };
  const recovered = recovery === null ? null : await reopenRun(base, feed);
  const { otherLog: log, logger, ending } = ports;
  const journal = createRunJournal(id, { files: await openRunLogs(folder), log, feed, logger, ending });
  recovery?.onDone();
  try {
    return await runOrUseCache({ ...base, journal }, recovered);
  } finally {
    await journal.close();
  }
}

/** Recovers a run and opens its questions again; null if no attempt of it had begun. */
async function reopenRun(context: Omit<RunContext, 'journal'>, feed: EventFeed): Promise<RecoveredRun | null> {
  const { control, folder, id, limits, ports } = context;
  if ((await folder.attempts()).length === 0) return null;
  const recovered = await recoverRun(context, feed);
  const { state } = recovered;
  if (state.kind === 'ended')
    throw new SluiceError('RUN_NOT_RESUMABLE', `Cannot resume the run ${id}: it has ended. Start a new one.`);
  if (state.kind === 'question') control.ask();
  if (state.kind === 'permissions') {
    const waitMs = computeRemainingWait(state.askedAt, limits.wait_s, ports.clock());
    for (const { interaction_id, options } of state.questions) control.askPermission(interaction_id, options, waitMs);
  }
  // A question that was never published is asked again by the agent.
  await (state.kind === 'working' ? ports.onUnanswered() : ports.onQuestion());
  return recovered;
}

async function runOrUseCache(context: RunContext, recovered: RecoveredRun | null): Promise<RunResult> {
  const {
    control,
    ports: { logger },
  } = context;
  // Also released where the run ends before it needs the folder.
  let lock: FolderLock | undefined = context.ports.folderLock;
  try {
    const workdir = await findWorkdir(context);
    if (recovered !== null) {
      lock = await claimWorkdir(context, workdir);
      return await runAttempts(context, workdir, recovered);
    }
    const find = async (): Promise<{ readonly key?: string; readonly cached?: CachedResult }> => {
      const key = await prepareCacheKey(context, workdir);
      if (key === undefined) return {};
      const cached = await findCachedResult(context, key);
      return { key, ...(cached === undefined ? {} : { cached }) };
    };
    const { cached } = await find();
    // A result without files needs no working folder.
    if (cached !== undefined && cached.files === undefined) return await emitCachedResult(context, cached);
    lock = await claimWorkdir(context, workdir);
    // The previous user of the folder may have changed the input files.
    const now = await find();
    if (now.cached !== undefined && (await restoreCachedFiles(context, workdir, now.cached))) {
      return await emitCachedResult(context, now.cached);
    }
    const result = await runAttempts(context, workdir);
    return now.key === undefined ? result : await cacheResult(context, now.key, workdir, result);
  } catch (error) {
    if (!(error instanceof NotStarted)) throw error;
    const { stop } = control;
    const end = stop === null ? ({ verdict: 'not_started', reason: error.message } as const) : explainStop(stop);
    const outcome = await recordUnstarted(context, { sessionId: null, reply: null }, end);
    return buildResult(outcome, context, { artifacts: NO_CHANGES, drift: undefined });
  } finally {
    await lock?.release().catch((error: unknown) => {
      logger.warn('cannot release the working folder', { run_id: context.id, error: getErrorMessage(error) });
    });
  }
}

/** A plain program may print what an engine prints; then that engine reads it. */
function chooseLauncher({ engine, reads }: RunSpec, { agents, launchers }: DecidedPorts): Launcher {
  const launcher = getLauncher(engine, agents, launchers);
  return reads === undefined ? launcher : { ...launcher, reads };
}

function toStorageFailure(error: unknown): SluiceError {
  if (isSluiceError(error)) return error;
  const why = getErrorMessage(error).replace(/[.\s]+$/, '');
  return new SluiceError(
    'RUN_STORAGE_FAILED',
    `The run was ended because its output cannot be stored: ${why}. Check the data folder, its permissions and free space, and the store; then run it again.`,
    { cause: error },
  );
}
