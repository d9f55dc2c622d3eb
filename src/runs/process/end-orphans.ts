import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createPidFilter } from './pid-mark.js';
import type { PidMark } from './pid-mark.js';
import { endGroup, isGoneWithin, listPids } from './process-group.js';
import { readProcessStat, getProcessState } from './process-identity.js';
import { readProcessRecords, removeOld, RUN_MARKER } from './process-record.js';
import type { FoundRecord } from './process-record.js';
import { setImmediate as turn } from 'node:timers/promises';
import { readFileSync } from 'node:fs';

/** A process that had outlived the Sluice that started it. */
export interface EndedOrphan {
  readonly runDir: string;
  readonly pid: number;
}

/** How orphans are ended. */
export interface EndOrphansOptions {
  readonly graceMs?: number;
  /** Whether no other worker holds the run of a record whose Sluice has ended; by default the record is trusted. */
  readonly isOrphan?: (record: Pick<FoundRecord, 'runDir'>) => Promise<boolean>;
}

const GRACE_MS = 2000;
const VANISH_MS = 5000;
/** Processes that are being ended may start others; this limits how long they are waited for. */
const MAX_ROUNDS = 5;

/**
 * Ends the processes that an earlier Sluice left running when it was killed: the groups it recorded, if their leader is still the
 * recorded process (its id may have been reused), and on Linux every process that carries the marker of such a run. Processes
 * recorded by a running Sluice are not touched.
 *
 * A record is a file that an agent may have forged. So it must be of a run of this data folder, `isOrphan` must agree (where
 * there is a store, it knows who holds the run), and on Linux the kernel must say that the leader was started for that run.
 *
 * @example
 * const ended = await endOrphans(join(data, 'processes'));
 */
export async function endOrphans(
  folder: string,
  { graceMs = GRACE_MS, isOrphan = async () => true }: EndOrphansOptions = {},
): Promise<EndedOrphan[]> {
  const ended = new Map<number, EndedOrphan>();
  const settled: string[] = [];
  const orphanedRuns = new Set<string>();
  const livingRuns = new Set<string>();
  const leaders: number[] = [];
  for (const record of await readProcessRecords(folder)) {
    if (dirname(record.runDir) !== join(dirname(folder), 'runs')) {
      await removeOld(record.path);
      continue;
    }
    const owner = await getProcessState(record.owner);
    if (owner === 'alive') {
      livingRuns.add(record.runDir);
      continue;
    }
    if (owner === 'unknown') {
      await removeOld(record.path);
      continue;
    }
    if (!(await isOrphan(record))) {
      livingRuns.add(record.runDir);
      continue;
    }
    settled.push(record.path);
    orphanedRuns.add(record.runDir);
    const { process: leader } = record;
    if (leader?.started === null || leader === undefined || (await getProcessState(leader)) !== 'alive') continue;
    if (process.platform === 'linux' && readMarker(leader.pid) !== record.runDir) continue;
    ended.set(leader.pid, { runDir: record.runDir, pid: leader.pid });
    leaders.push(leader.pid);
  }
  // A run that was taken up again belongs to the Sluice that did so.
  for (const runDir of livingRuns) orphanedRuns.delete(runDir);
  const marked = endMarkedProcesses(orphanedRuns, graceMs);
  const outcomes = await Promise.allSettled([marked, ...leaders.map(async (pid) => endGroup(pid, graceMs))]);
  for (const { pid, runDir } of await marked) ended.set(pid, { runDir, pid });
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  await Promise.all(settled.map(async (path) => rm(path, { force: true })));
  return [...ended.values()];
}

/**
 * Ends every process that carries the marker of one of these runs, also those that left their group. Linux only;
 * elsewhere it finds none.
 */
async function endMarkedProcesses(runDirs: ReadonlySet<string>, graceMs = GRACE_MS): Promise<EndedOrphan[]> {
  const ended = new Map<number, EndedOrphan>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const found = findMarkedProcesses(runDirs);
    if (found.length === 0) break;
    for (const { pid, runDir } of found) ended.set(pid, { pid, runDir });
    signal(found, 'SIGTERM');
    if (await isGoneWithin(() => !found.some(isStillThere), graceMs)) continue;
    signal(found, 'SIGKILL');
    await isGoneWithin(() => !found.some(isStillThere), VANISH_MS);
  }
  return [...ended.values()];
}

function signal(processes: readonly MarkedProcess[], name: NodeJS.Signals): void {
  for (const found of processes.filter(isStillThere)) {
    try {
      process.kill(found.pid, name);
    } catch {
      // It exited by itself.
    }
  }
}

function isStillThere({ pid, startTicks }: MarkedProcess): boolean {
  const stat = readProcessStat(pid);
  return stat !== undefined && !stat.isZombie && stat.startTicks === startTicks;
}

/** Runs that wait for the next scan of all processes, each with when its first process was started. */
let waiting = new Map<string, PidMark | undefined>();
let look: Promise<ReadonlySet<string>> | null = null;

/**
 * Ends the processes of a run that left its process group, once its own process has exited. Reading all processes takes
 * milliseconds, tens of them beside a large database: runs that end at the same time share a scan, and with a mark from before
 * the run only later processes are read. Linux only.
 */
export async function endEscapedProcesses(runDir: string, since?: PidMark): Promise<void> {
  if (process.platform !== 'linux') return;
  waiting.set(runDir, since);
  look ??= lookForAll();
  const found = await look;
  if (found.has(runDir)) await endMarkedProcesses(new Set([runDir]));
}

async function lookForAll(): Promise<ReadonlySet<string>> {
  await turn();
  const runs = waiting;
  waiting = new Map();
  look = null;
  const filters = [...runs.values()].map(createPidFilter);
  const found = findMarkedProcesses(new Set(runs.keys()), (pid) => filters.some((mayBe) => mayBe(pid)));
  return new Set(found.map(({ runDir }) => runDir));
}

/**
 * Ends the remaining processes of a run on this machine, whichever data folder its Sluice had: two workers of one store
 * need not share one. Linux only; elsewhere only the records of a data folder show what was started.
 */
export async function endProcessesOfRun(run: string): Promise<EndedOrphan[]> {
  if (process.platform !== 'linux') return [];
  const markers = listPids().flatMap((pid) => readMarker(pid) ?? []);
  return endMarkedProcesses(new Set(markers.filter((runDir) => basename(runDir) === run)));
}

/** A process of a run, found by the environment it was started with. */
export interface MarkedProcess {
  readonly pid: number;
  readonly startTicks: string;
  readonly runDir: string;
}

/**
 * Finds all running processes of these runs on Linux, also those that left their group and session; elsewhere none. Our
 * own process and those above it are never among them: Sluice may itself be started by an agent.
 */
export function findMarkedProcesses(
  runDirs: ReadonlySet<string>,
  isRead: (pid: number) => boolean = () => true,
): MarkedProcess[] {
  if (process.platform !== 'linux' || runDirs.size === 0) return [];
  const spared = listAncestors();
  const found: MarkedProcess[] = [];
  for (const pid of listPids().filter(isRead)) {
    if (spared.has(pid)) continue;
    const runDir = readMarker(pid);
    if (runDir === undefined || !runDirs.has(runDir)) continue;
    const stat = readProcessStat(pid);
    if (stat !== undefined && !stat.isZombie) found.push({ pid, startTicks: stat.startTicks, runDir });
  }
  return found;
}

function readMarker(pid: number): string | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    // Gone, or of another user: then Sluice did not start it.
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
