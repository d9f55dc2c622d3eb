import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createPidFilter, type PidMark } from './descendants.js';
import { listPids, terminateGroup, terminateProcesses } from './process-group.js';
import { readProcessStat, getProcessState } from './process-identity.js';
import { readProcessRecords, removeOld, RUN_MARKER, type FoundRecord } from './process-record.js';
import { findContainerEngine, getContainerPrefix, removeContainer, type ContainerSettings } from '../sandbox/index.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readFileSync } from 'node:fs';

/** A process that outlived the Sluice process that started it. */
export interface TerminatedOrphan {
  readonly runDir: string;
  readonly pid: number;
}

export interface TerminateOrphansOptions {
  readonly graceMs?: number;
  /** Whether a record's run is unclaimed by other workers; by default the record is trusted. */
  readonly isOrphan?: (record: Pick<FoundRecord, 'runDir'>) => Promise<boolean>;
  /** Finds the engine of containers that are left; this host's by default. */
  readonly containers?: ContainerSettings | undefined;
}

const GRACE_MS = 2000;
/** Processes being terminated can start others; this limits the number of scans. */
const MAX_ROUNDS = 5;

/**
 * Terminates the processes left running by a killed Sluice process: the recorded groups, if their leader is still the
 * recorded process (its id could have been reused), and on Linux every process with such a run's marker. Processes
 * recorded by a running Sluice process are not touched.
 *
 * An agent could have forged a record. So a record must belong to a run of this data folder, `isOrphan` must return
 * true (with a store, it checks the run's claim), and on Linux the leader's environment must contain the run's marker.
 */
export async function terminateOrphans(
  folder: string,
  { graceMs = GRACE_MS, isOrphan = async () => true, containers }: TerminateOrphansOptions = {},
): Promise<TerminatedOrphan[]> {
  const terminated = new Map<number, TerminatedOrphan>();
  const recordsToRemove: string[] = [];
  const orphanedRuns = new Set<string>();
  const activeRuns = new Set<string>();
  const leaders: number[] = [];
  for (const record of await readProcessRecords(folder)) {
    if (dirname(record.runDir) !== join(dirname(folder), 'runs')) {
      await removeOld(record.path);
      continue;
    }
    const owner = await getProcessState(record.owner);
    if (owner === 'alive') {
      activeRuns.add(record.runDir);
      continue;
    }
    if (owner === 'unknown') {
      await removeOld(record.path);
      continue;
    }
    if (!(await isOrphan(record))) {
      activeRuns.add(record.runDir);
      continue;
    }
    // Without its engine, it stays recorded until one answers.
    if (await removeOrphanedContainer(record, containers)) recordsToRemove.push(record.path);
    orphanedRuns.add(record.runDir);
    const { process: leader } = record;
    if (leader?.started === null || leader === undefined || (await getProcessState(leader)) !== 'alive') continue;
    if (process.platform === 'linux' && readMarker(leader.pid) !== record.runDir) continue;
    terminated.set(leader.pid, { runDir: record.runDir, pid: leader.pid });
    leaders.push(leader.pid);
  }
  // A resumed run belongs to the Sluice process that resumed it.
  for (const runDir of activeRuns) orphanedRuns.delete(runDir);
  const markedProcesses = terminateMarkedProcesses(orphanedRuns, graceMs);
  const outcomes = await Promise.allSettled([
    markedProcesses,
    ...leaders.map(async (pid) => terminateGroup(pid, graceMs)),
  ]);
  for (const { pid, runDir } of await markedProcesses) terminated.set(pid, { runDir, pid });
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  await Promise.all(recordsToRemove.map(async (path) => rm(path, { force: true })));
  return [...terminated.values()];
}

/** Removes a record's container, unless it belongs to another run; returns whether it is gone. */
async function removeOrphanedContainer(
  { container, runDir }: FoundRecord,
  settings: ContainerSettings | undefined,
): Promise<boolean> {
  if (container === undefined || !container.startsWith(getContainerPrefix(basename(runDir)))) return true;
  const engine = await findContainerEngine(settings).catch(() => undefined);
  return engine !== undefined && (await removeContainer(engine, container));
}

/** Terminates all processes with the marker of one of these runs, in any group. Linux only. */
async function terminateMarkedProcesses(runDirs: ReadonlySet<string>, graceMs = GRACE_MS): Promise<TerminatedOrphan[]> {
  const terminated = new Map<number, TerminatedOrphan>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const processes = findMarkedProcesses(runDirs);
    if (processes.length === 0) break;
    for (const { pid, runDir } of processes) terminated.set(pid, { pid, runDir });
    await terminateProcesses(
      processes.map(({ pid, startTicks }) => [pid, startTicks]),
      graceMs,
    );
  }
  return [...terminated.values()];
}

/** Runs waiting for the next process scan, each with a mark from before its first process. */
let waiting = new Map<string, PidMark | undefined>();
let scan: Promise<ReadonlySet<string>> | null = null;

/**
 * Terminates a run's processes that left its process group, once its main process has exited. Scanning all processes
 * takes milliseconds, or tens of milliseconds under load, so runs that end concurrently share a scan, and with a mark
 * from before the run only later processes are scanned. Linux only.
 */
export async function terminateEscapedProcesses(runDir: string, since?: PidMark): Promise<void> {
  if (process.platform !== 'linux') return;
  waiting.set(runDir, since);
  scan ??= scanAll();
  const processes = await scan;
  if (processes.has(runDir)) await terminateMarkedProcesses(new Set([runDir]));
}

async function scanAll(): Promise<ReadonlySet<string>> {
  await nextTurn();
  const runs = waiting;
  waiting = new Map();
  scan = null;
  const filters = [...runs.values()].map(createPidFilter);
  const processes = findMarkedProcesses(new Set(runs.keys()), (pid) => filters.some((accepts) => accepts(pid)));
  return new Set(processes.map(({ runDir }) => runDir));
}

/**
 * Terminates a run's remaining processes on this host, whatever its data folder: workers that share a store can have
 * different data folders. Linux only; on other systems, processes are known only from a data folder's records.
 */
export async function terminateRunProcesses(run: string): Promise<TerminatedOrphan[]> {
  if (process.platform !== 'linux') return [];
  const markers = listPids().flatMap((pid) => readMarker(pid) ?? []);
  return terminateMarkedProcesses(new Set(markers.filter((runDir) => basename(runDir) === run)));
}

/** A run's process, found by the marker in its environment. */
export interface MarkedProcess {
  readonly pid: number;
  readonly startTicks: string;
  readonly runDir: string;
}

/** Finds all running processes of these runs, except this one and its ancestors, which an agent can have started. */
export function findMarkedProcesses(
  runDirs: ReadonlySet<string>,
  shouldRead: (pid: number) => boolean = () => true,
): MarkedProcess[] {
  if (process.platform !== 'linux' || runDirs.size === 0) return [];
  let ancestors: ReadonlySet<number> | undefined;
  const processes: MarkedProcess[] = [];
  for (const pid of listPids().filter(shouldRead)) {
    const runDir = readMarker(pid);
    if (runDir === undefined || !runDirs.has(runDir)) continue;
    ancestors ??= listAncestors();
    if (ancestors.has(pid)) continue;
    const stat = readProcessStat(pid);
    if (stat !== undefined && !stat.isZombie) processes.push({ pid, startTicks: stat.startTicks, runDir });
  }
  return processes;
}

function readMarker(pid: number): string | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    // It has exited, or belongs to another user and was not started by Sluice.
    return undefined;
  }
  const start = text.startsWith(`${RUN_MARKER}=`) ? 0 : text.indexOf(`\0${RUN_MARKER}=`) + 1;
  if (start === 0 && !text.startsWith(`${RUN_MARKER}=`)) return undefined;
  const end = text.indexOf('\0', start);
  return text.slice(start + RUN_MARKER.length + 1, end === -1 ? undefined : end);
}

function listAncestors(): Set<number> {
  const ancestors = new Set<number>();
  for (let pid = process.pid; pid > 0 && !ancestors.has(pid); pid = readProcessStat(pid)?.parent ?? 0) {
    ancestors.add(pid);
  }
  return ancestors;
}
