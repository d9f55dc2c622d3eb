import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import {
  collectDescendants,
  EXIT_TIMEOUT_MS,
  groupByParent,
  listDescendants,
  readRunningProcesses,
  signalAll,
  terminateProcesses,
  waitUntilGone,
} from './process-group.js';
import { readNamespace, readProcessStat } from './process-identity.js';
import { getErrorCode } from '../../base/index.js';

/** The time between two scans; longer on a host with many processes, so scanning takes at most 5 % of the time. */
const SCAN_INTERVAL_MS = 100;
const SCAN_INTERVAL_FACTOR = 20;
const GRACE_MS = 500;

/** Start times by process id, because ids are reused. */
type KnownProcesses = Map<number, string>;

const trees = new Set<KnownProcesses>();
let timer: NodeJS.Timeout | undefined;

/**
 * Tracks the descendants of a process by scanning all processes periodically, one scan for all trees. Once found, a
 * process is tracked even after it leaves its group and session, changes its environment and loses its parent. A
 * process that does all of that between two scans is missed: this is best effort, for runs without a sandbox or cgroup.
 * Linux only.
 */
export function trackTree(pid: number) {
  const known: KnownProcesses = new Map();
  const stat = process.platform === 'linux' ? readProcessStat(pid) : undefined;
  if (stat === undefined) return { scan: () => undefined, end: async () => undefined };
  known.set(pid, stat.startTicks);
  trees.add(known);
  if (timer === undefined) scheduleScan(SCAN_INTERVAL_MS);
  return {
    /** Scans immediately instead of at the next interval. */
    scan: () => addDescendants([known]),
    /** Stops tracking and terminates the remaining processes. */
    async end() {
      if (trees.delete(known)) addDescendants([known]);
      if (trees.size === 0) {
        clearTimeout(timer);
        timer = undefined;
      }
      known.delete(pid);
      await terminateProcesses(known, GRACE_MS);
    },
  };
}

function scheduleScan(milliseconds: number): void {
  timer = setTimeout(() => {
    const started = performance.now();
    addDescendants(trees);
    scheduleScan(Math.max(SCAN_INTERVAL_MS, (performance.now() - started) * SCAN_INTERVAL_FACTOR));
  }, milliseconds);
  // The timer must not keep this process alive.
  timer.unref();
}

/** Adds children of known processes, and removes processes that have exited. */
function addDescendants(trackers: Iterable<KnownProcesses>): void {
  const all = readRunningProcesses();
  const children = groupByParent(all);
  for (const known of trackers) {
    for (const [pid, ticks] of known) {
      if (all.get(pid)?.startTicks !== ticks) {
        known.delete(pid);
        continue;
      }
      for (const descendant of collectDescendants(pid, children))
        known.set(descendant, all.get(descendant)?.startTicks ?? '');
    }
  }
}

/** A cgroup for a process and its descendants, which cannot leave it. `end` kills what remains, and removes it. */
type Cgroup = Awaited<ReturnType<typeof moveTree>>;

const MAX_ROUNDS = 5;

let counter = 0;
/** A process is seldom moved to another cgroup, and can then still use the first. */
let ownCgroup: string | undefined;
/** Parent cgroups that were already cleaned up after killed Sluice processes. */
const cleanedParents = new Set<string>();

/**
 * Moves a newly started process into a new cgroup (version 2) below our own. Returns undefined if the cgroup cannot be
 * created, which is common outside services and containers, and resolves with undefined if the process cannot be moved.
 * The kernel takes tens of milliseconds to move a process, so the caller should not await the result before the process
 * has exited.
 */
export function openCgroup(
  pid: number,
  parent: string | undefined = (ownCgroup ??= findOwnCgroup()),
): Promise<Cgroup> | undefined {
  if (parent === undefined) return undefined;
  counter += 1;
  const folder = join(parent, `${describeOwner()}-${counter}`);
  try {
    if (!cleanedParents.has(parent)) killLeftovers(parent);
    cleanedParents.add(parent);
    mkdirSync(folder);
  } catch {
    return undefined;
  }
  return moveTree(folder, pid);
}

async function moveTree(folder: string, pid: number) {
  try {
    await move(folder, [pid]);
    // Processes it started before the move are still outside; later processes are inside.
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const inside = new Set(readLines(join(folder, 'cgroup.procs')));
      const outside = listDescendants(pid).filter((child) => !inside.has(String(child)));
      if (outside.length === 0) break;
      await move(folder, outside);
    }
  } catch {
    remove(folder);
    return undefined;
  }
  return { end: async () => killCgroup(folder) };
}

let ownerName: string | undefined;

/** Identifies a cgroup's owner: the PID namespace, this process's id, and its start time. */
function describeOwner(): string {
  ownerName ??= ['sluice', readNamespace(), process.pid, readProcessStat(process.pid)?.startTicks].join('-');
  return ownerName;
}

/** Terminates the remaining processes of runs whose Sluice process was killed. */
function killLeftovers(parent: string): void {
  const [, ownNamespace] = describeOwner().split('-');
  for (const name of readdirSync(parent)) {
    const [, namespace, pid, ticks] = /^sluice-(\d+)-(\d+)-(\d+)-\d+$/.exec(name) ?? [];
    if (namespace !== ownNamespace || readProcessStat(Number(pid))?.startTicks === ticks) continue;
    const folder = join(parent, name);
    if (!isEmpty(folder)) kill(folder);
    remove(folder);
  }
}

async function move(folder: string, pids: readonly number[]): Promise<void> {
  for (const pid of pids) {
    try {
      await writeFile(join(folder, 'cgroup.procs'), String(pid));
    } catch (error) {
      // It might have exited; any other error means that the cgroup cannot be used.
      if (getErrorCode(error) !== 'ESRCH') throw error;
    }
  }
}

async function killCgroup(folder: string): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS && !isEmpty(folder); round += 1) {
    kill(folder);
    await waitUntilGone(() => isEmpty(folder), EXIT_TIMEOUT_MS);
  }
  remove(folder);
}

/** Kills all processes; with `cgroup.kill` (Linux 5.14) this includes processes that are just starting. */
function kill(folder: string): void {
  const all = join(folder, 'cgroup.kill');
  if (existsSync(all)) {
    writeFileSync(all, '1');
    return;
  }
  signalAll(readLines(join(folder, 'cgroup.procs')).filter(Boolean).map(Number), 'SIGKILL');
}

function isEmpty(folder: string): boolean {
  return !readLines(join(folder, 'cgroup.events')).includes('populated 1');
}

function remove(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // A process that cannot be ended is still in it.
  }
}

/** Returns our own cgroup, if a cgroup2 file system is mounted. */
function findOwnCgroup(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const own = readLines('/proc/self/cgroup')
    .find((line) => line.startsWith('0::'))
    ?.slice(3);
  for (const line of readLines('/proc/self/mountinfo')) {
    const [, , , root = '', mountPoint = ''] = line.split(' ');
    if (own === undefined || !/ - cgroup2 /.test(line)) continue;
    if (root === '/') return join(mountPoint, own);
    if (own === root || own.startsWith(`${root}/`)) return join(mountPoint, own.slice(root.length));
  }
  return undefined;
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'latin1').split('\n');
  } catch {
    return [];
  }
}

/** A position in the sequence of process ids. Linux only. */
export interface PidMark {
  readonly last: number;
  /** The number of processes and threads started since boot. */
  readonly started: number;
}

export function readPidMark(): PidMark | undefined {
  try {
    const last = Number(/\s(\d+)\s*$/.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1]);
    const started = Number(/^processes (\d+)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1]);
    return last > 0 && started > 0 ? { last, started } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns a function that checks whether an id could have been assigned since a mark; always true if that is unknown.
 * Ids are assigned in sequence and wrap around, so the function always returns true once many processes have been
 * started since the mark.
 */
export function createPidFilter(mark: PidMark | undefined): (pid: number) => boolean {
  const now = readPidMark();
  if (mark === undefined || now === undefined || now.started - mark.started >= readMaxPid() / 2) return () => true;
  const [first, last] = [mark.last, now.last];
  return first <= last ? (pid) => pid > first && pid <= last : (pid) => pid > first || pid <= last;
}

function readMaxPid(): number {
  try {
    return Number(readFileSync('/proc/sys/kernel/pid_max', 'latin1'));
  } catch {
    return 0;
  }
}
