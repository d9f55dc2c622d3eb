import { join } from 'node:path';
import { getErrorMessage } from '../../base/index.js';
import { chooseFolder, listFirstNames } from '../../base/files/index.js';
import type { RunPorts } from '../../runs/index.js';
import { removeRunFolder } from '../../runs/run-folder/index.js';
import type { RunStore } from '../../store/ports/index.js';
import type { RunRecord } from '../../store/records/index.js';
import type { Duties, DutyContext } from './claim-runs.js';
import { endOrphanedProcesses, reconcileExpired } from './reconcile.js';
import { repeatJob, repeatWork } from './repeat-work.js';
import { createWaker } from './waker.js';

const SWEEP_MS = 60 * 60_000;
/** The folders of checks are read until their order has ended, perhaps by another worker on this host. */
const KEEP_MS = 24 * SWEEP_MS;
const MAX_FOLDERS = 1000;

interface HostDutyOptions {
  readonly store: Pick<RunStore, 'findRun' | 'findRepositoryStart'>;
  readonly runs: Pick<RunPorts, 'agents' | 'sandbox'>;
  /** Returns the runs of this host whose lease has expired, as last reported. */
  readonly listExpired: () => readonly RunRecord[];
  /** Reports that the worker and the container of an expired run are gone, so the order can be executed elsewhere. */
  readonly reportLost: (run: RunRecord) => Promise<unknown>;
}

/**
 * Starts what only a process on this host can do after a crash, for a worker whose server does the rest: kills processes
 * that outlived their worker, resumes runs that wait for an answer, and attests that containers are gone.
 */
export function startHostDuties(options: HostDutyOptions, worker: DutyContext): Duties {
  const { store, runs, listExpired, reportLost } = options;
  const { clock, logger, data, signal, adopt, reconcileMs } = worker;
  const containers = runs.sandbox?.container;
  const waker = createWaker();
  const adoptOrWarn = async (run: RunRecord) =>
    adopt(run).catch((error: unknown) => {
      logger.warn('cannot resume a run of a lost worker, will retry', { error: getErrorMessage(error) });
      return false;
    });
  async function reconcile(): Promise<void> {
    // This comes first, because a resumed run must not share its folder with old processes.
    const processes = await endOrphanedProcesses({ store, data, containers });
    if (processes > 0) logger.info('processes of lost workers ended', { processes });
    if (signal.aborted) return;
    const ports = { store, data, clock, adopt: adoptOrWarn, agents: runs.agents, containers };
    for await (const run of reconcileExpired(ports, listExpired())) {
      await reportLost(run);
      logger.info('the container of a lost worker is gone', { run_id: run.id });
    }
  }
  /** Removes the folders that crashed workers have left, a day after the server has got the end of their runs. */
  async function removeFolders(): Promise<void> {
    for (const id of await listFirstNames(join(data, 'runs'), MAX_FOLDERS, chooseFolder)) {
      if (signal.aborted) return;
      const { ended_at: endedAt = null } = (await store.findRun(id)) ?? {};
      if (endedAt !== null && clock() - Date.parse(endedAt) >= KEEP_MS) await removeRunFolder(data, id);
    }
  }
  const removing = repeatJob(
    { name: 'removing run folders', everyMs: SWEEP_MS, work: removeFolders },
    { logger, signal },
  );
  const reconciling = repeatWork({
    name: 'reconciling this host',
    work: reconcile,
    waker,
    sleepMs: reconcileMs,
    logger,
    signal,
  });
  return {
    onExpired: waker.wake,
    stop: async () => void (await Promise.all([reconciling, removing])),
  };
}
