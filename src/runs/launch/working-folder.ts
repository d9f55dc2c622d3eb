import { realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { getErrorMessage } from '../../base/index.js';
import { isWithin } from '../../base/files/index.js';
import { computeCacheKey } from '../cache/result-caches.js';
import type { RunContext } from '../attempts/run-context.js';
import { terminateOrphans } from '../process/terminate-orphans.js';
import { describeHolder, lockFolder, type FolderLock } from '../workspace/folder-lock.js';
import { findGuardsFolder, removeLeftPlaceholders } from '../workspace/git-guards.js';
import { findEngineVersion } from './engine-version.js';
import { selectAgentEnvironment, getProgramCommand } from './prepare-launch.js';

/** A run could not start; the reason is reported in its events. */
export class RunNotStartedError extends Error {
  override readonly name = 'RunNotStartedError';
}

/** Returns the working folder, absolute and without links. */
export async function findWorkdir({ spec, ports }: Pick<RunContext, 'spec' | 'ports'>): Promise<string> {
  const path = resolve(spec.workdir);
  const workdir = await realpath(path).catch(() => undefined);
  if (workdir !== undefined && workdir !== path && !(await isInPlace(path, workdir, ports)))
    throw new RunNotStartedError(
      `The working folder "${path}" was replaced by a link to another place. Remove the link, or use another folder.`,
    );
  if (workdir !== undefined && (await stat(workdir)).isDirectory()) return workdir;
  throw new RunNotStartedError(
    `The working folder "${path}" does not exist or is not a folder. Create it, or use another folder.`,
  );
}

/**
 * Whether a folder that is a link leads to where a queued run may work. It was checked when the run was requested, and
 * an agent that worked in a folder above it could have replaced it since.
 */
async function isInPlace(path: string, real: string, { data, sandbox }: RunContext['ports']): Promise<boolean> {
  const { roots = [] } = sandbox;
  const above = [data, ...roots].find((folder) => isWithin(folder, path));
  if (above === undefined) return true;
  const [realAbove, realData] = await Promise.all([above, data].map(async (folder) => realpath(folder)));
  return isWithin(realAbove ?? above, real) && (above === data || !isWithin(realData ?? data, real));
}

/** Returns the result's cache key, or undefined if the spec does not request caching. */
export async function prepareCacheKey(context: RunContext, workdir: string): Promise<string | undefined> {
  const { spec, launcher, ports } = context;
  if (spec.cache === undefined || spec.cache === false) return undefined;
  // Attachments and servers are not part of the key.
  if (ports.inputs.attachments.length > 0 || ports.inputs.mcpServers.length > 0) return undefined;
  try {
    const engineVersion = await findEngineVersion(
      launcher,
      getProgramCommand(context, launcher.program),
      selectAgentEnvironment(context),
    );
    const { approvals, environment } = ports;
    const agent = Object.hasOwn(ports.agents, spec.engine) ? ports.agents[spec.engine] : undefined;
    return await computeCacheKey({ ...spec, workdir }, { engineVersion, agent, approvals, environment });
  } catch (error) {
    throw new RunNotStartedError(`Cannot read the input files: ${getErrorMessage(error)}`);
  }
}

/** Data folders whose orphaned processes this process has terminated. */
const cleanups = new Map<string, Promise<void>>();

/** Locks the working folder, after terminating processes that a killed Sluice process has left. */
export async function lockWorkdir(context: RunContext, workdir: string): Promise<FolderLock> {
  const { control, limits, ports } = context;
  await terminateOrphansOnce(context);
  if (ports.folderLock !== undefined) return ports.folderLock;
  const waiting = new AbortController();
  const unsubscribe = control.onStop(() => waiting.abort());
  const reason = `Another run is using the folder "${workdir}" and did not end within limits.time_s (${limits.time_s} s).`;
  const hint = 'Wait for it to end, or use another folder.';
  const timer = setTimeout(() => control.requestStop({ verdict: 'timed_out', reason, hint }), limits.time_s * 1000);
  try {
    return await lockFolder(join(ports.data, 'locks'), workdir, {
      wait: ports.waitsForFolder,
      signal: waiting.signal,
      run: context.id,
      onBusy(holder) {
        const message = `Waiting for the folder "${workdir}", in use by ${describeHolder(holder)}.`;
        ports.logger.info(message, { run_id: context.id });
        ports.onWaiting(message);
      },
    });
  } catch (error) {
    throw new RunNotStartedError(getErrorMessage(error), { cause: error });
  } finally {
    clearTimeout(timer);
    unsubscribe();
  }
}

async function terminateOrphansOnce({ ports: { data, logger, sandbox }, runDir }: RunContext): Promise<void> {
  const terminate = async (): Promise<void> => {
    try {
      // The real path of the data folder, as in the records.
      const folder = join(dirname(dirname(runDir)), 'processes');
      for (const orphan of await terminateOrphans(folder, { containers: sandbox.container })) {
        logger.warn('terminated an orphaned process', { pid: orphan.pid, run_dir: orphan.runDir });
      }
      await removeLeftPlaceholders(await findGuardsFolder(dirname(dirname(runDir))));
    } catch (error) {
      logger.warn('cannot terminate orphaned processes', { error: getErrorMessage(error) });
    }
  };
  const cleanup = cleanups.get(data) ?? terminate();
  cleanups.set(data, cleanup);
  await cleanup;
}
