import { join } from 'node:path';
import { getErrorMessage, isSluiceError } from '../base/index.js';
import { decodeReply } from '../records/index.js';
import type { RunResult, RunSpec } from '../records/index.js';
import { failedResult, lockFolder, startRun } from '../runs/index.js';
import type { FolderLock, Run, RunPorts } from '../runs/index.js';
import type { HeldClaim } from './hold-claim.js';
import type { LostRunCode } from './lost-run-codes.js';
import { retryStore } from './retry-store.js';
import type { WorkContext } from './worker-options.js';

const NOT_STARTED: LostRunCode = 'RUN_NOT_STARTED';

/** A folder in use by a process that the store does not know is looked at again after this time. */
const FOLDER_RETRY_MS = 1000;

/** What comes of a run that was canceled after it was claimed and before its process started. */
export const CANCELED_BEFORE_START: RunResult = {
  ...failedResult('RUN_CANCELED', 'The run was canceled before it started.'),
  status: 'canceled',
  error: { category: 'canceled', code: 'RUN_CANCELED', message: 'The run was canceled before it started.' },
};

/**
 * Locks the folder of a claimed run. If a process outside the store works there, the run goes back into the queue: a run
 * that waits takes no slot. Undefined where the folder cannot be locked at all; the run then reports why.
 */
export async function acquireFolder(
  { store, runs, clock }: WorkContext,
  hold: { readonly id: string; readonly workerId: string },
  workdir: string,
): Promise<FolderLock | 'busy' | undefined> {
  try {
    return await lockFolder(join(runs.data, 'locks'), workdir);
  } catch (error) {
    if (!isSluiceError(error) || error.code !== 'WORKING_FOLDER_BUSY') return undefined;
    await store.releaseRun({ ...hold, now: clock(), retryAt: clock() + FOLDER_RETRY_MS });
    return 'busy';
  }
}

/** What starting a run needs. */
export interface StartedRun {
  readonly id: string;
  readonly workerId: string;
  readonly spec: RunSpec;
  readonly lock: FolderLock | undefined;
  /** Variables beside those of the worker's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Called once it has been started. */
  readonly onRun?: (run: Run) => void;
}

/** Runs an agent under a claim and returns its result; replies and cancellation reach it through the claim. */
export async function runToEnd(context: WorkContext, started: StartedRun, claim: HeldClaim): Promise<RunResult> {
  const { id, workerId, spec, lock, env } = started;
  const { store, clock, runs } = context;
  const ports: RunPorts = {
    ...runs,
    eventLog: store,
    cache: store,
    newId: () => id,
    ending: context.signal,
    environment: { ...(runs.environment ?? process.env), ...env },
    onQuestion: async () => {
      await retryStore(async () => store.markWaiting({ id, workerId, now: clock() }), context);
    },
    onUnanswered: async () => {
      await retryStore(async () => store.markWaiting({ id, workerId, now: clock(), isOver: true }), context);
    },
    ...(lock === undefined ? {} : { folderLock: lock }),
  };
  let run: Run;
  try {
    run = startRun(spec, ports);
  } catch (error) {
    // What cannot be started at all was queued without being checked: that is the run's result.
    return failedResult(isSluiceError(error) ? error.code : NOT_STARTED, getErrorMessage(error));
  }
  started.onRun?.(run);
  const cancel = () => void run.cancel(String(claim.stop.reason));
  if (claim.stop.aborted) cancel();
  claim.stop.addEventListener('abort', cancel, { once: true });
  claim.onReply(async (reply) => run.reply(decodeReply(reply)));
  const result = await run.result;
  claim.stop.removeEventListener('abort', cancel);
  return result;
}
