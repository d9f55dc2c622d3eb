import { join } from 'node:path';
import { getErrorMessage } from '../../base/index.js';
import { chooseFolder, listFirstNames } from '../../base/files/index.js';
import type { RunPorts } from '../../runs/index.js';
import { removeRunFolder } from '../../runs/run-folder/index.js';
import type { RunStore } from '../../store/ports/index.js';
import type { RunRecord } from '../../store/records/index.js';
import type { Duties, DutyContext } from './claim-runs.js';
import { adoptExpired, endOrphanedProcesses, listAttested } from './reconcile.js';
import { repeatSweep, repeatWork } from './repeat-work.js';
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
  const { agents, sandbox } = runs;
  const waker = createWaker();
  async function reconcile(): Promise<void> {
    // This comes first, because a resumed run must not share its folder with old processes.
    const containers = sandbox?.container;
    const processes = await endOrphanedProcesses({ store, data, containers });
    if (processes > 0) logger.info('processes of lost workers ended', { processes });
    if (signal.aborted) return;
    const expired = { store, data, clock, adopt, ...(agents === undefined ? {} : { agents }) };
    await adoptExpired(expired, listExpired()).catch((error: unknown) => {
      logger.warn('cannot resume a run of a lost worker, will retry', { error: getErrorMessage(error) });
    });
    for await (const run of listAttested({ ...expired, containers }, listExpired())) {
      await reportLost(run);
      logger.info('the container of a lost worker is gone', { run_id: run.id });
    }
  }
  /** Removes the folders that crashed workers have left, a day after the server has got the end of their runs. */
  async function removeFolders(): Promise<number> {
    let removed = 0;
    for (const id of await listFirstNames(join(data, 'runs'), MAX_FOLDERS, chooseFolder)) {
      if (signal.aborted) break;
      const { ended_at: endedAt = null } = (await store.findRun(id)) ?? {};
      if (endedAt === null || clock() - Date.parse(endedAt) < KEEP_MS) continue;
      await removeRunFolder(data, id);
      removed += 1;
    }
    return removed;
  }
  const sweeps = repeatSweep({ name: 'removing run folders', work: removeFolders, everyMs: SWEEP_MS, logger });
  const reconciling = repeatWork({
    name: 'reconciling this host',
    work: reconcile,
    waker,
    sleepMs: reconcileMs,
    logger,
    signal,
  });
  return {
    wake: () => undefined,
    onExpired: waker.wake,
    async stop() {
      waker.wake();
      await Promise.all([reconciling, sweeps.stop()]);
    },
    finish: async () => undefined,
  };
}
