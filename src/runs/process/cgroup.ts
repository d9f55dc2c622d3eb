import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorCode } from '../../base/index.js';
import { waitUntilGone, listDescendants } from './process-group.js';
import { readProcessStat } from './process-identity.js';

/**
 * A cgroup for one process and its descendants, which cannot leave it even if they change their session or environment.
 */
export interface Cgroup {
  /** Kills the remaining processes in it, and removes it. */
  end(): Promise<void>;
}

const EXIT_TIMEOUT_MS = 5000;
const MAX_ROUNDS = 5;

let counter = 0;
/** Parent cgroups that were already cleaned up after killed Sluice processes. */
const cleanedParents = new Set<string>();

/**
 * Moves a newly started process into a new cgroup (version 2) below our own. Returns undefined if the cgroup cannot be
 * created, which is common outside services and containers, and resolves with undefined if the process cannot be moved.
 * The kernel takes tens of milliseconds to move a process, so the caller should not await the result before the process
 * has exited.
 *
 * @example
 * const cgroup = openCgroup(running.identity.pid)
 */
export function openCgroup(
  pid: number,
  parent: string | undefined = findOwnCgroup(),
): Promise<Cgroup | undefined> | undefined {
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

async function moveTree(folder: string, pid: number): Promise<Cgroup | undefined> {
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

/** Identifies a cgroup's owner: the PID namespace, this process's id, and its start time. */
function describeOwner(): string {
  const namespace = readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '');
  return `sluice-${namespace}-${process.pid}-${readProcessStat(process.pid)?.startTicks ?? ''}`;
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
  for (const line of readLines(join(folder, 'cgroup.procs'))) {
    try {
      process.kill(Number(line), 'SIGKILL');
    } catch {
      // It has already exited.
    }
  }
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
