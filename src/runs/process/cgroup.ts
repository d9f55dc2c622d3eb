import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getErrorCode } from '../../base/index.js';
import { isGoneWithin, listDescendants } from './process-group.js';
import { readProcessStat } from './process-identity.js';

/** A cgroup of one process and its descendants. They cannot leave it, whatever they do with their session or environment. */
export interface Cgroup {
  /** Kills the remaining processes in it, and removes it. */
  end(): Promise<void>;
}

const VANISH_MS = 5000;
const MAX_ROUNDS = 5;

let counter = 0;
/** Parent cgroups whose leftovers of killed processes were already ended. */
const cleaned = new Set<string>();

/**
 * Puts a process that was just started into a cgroup (version 2) below our own. Resolves with undefined if there is none that we
 * may write to, which is usual outside of services and containers; undefined at once where that is clear already. The kernel takes
 * tens of milliseconds to move a process, so nothing waits for it but the end of the process.
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
    if (!cleaned.has(parent)) endLeftovers(parent);
    cleaned.add(parent);
    mkdirSync(folder);
  } catch {
    return undefined;
  }
  return fill(folder, pid);
}

async function fill(folder: string, pid: number): Promise<Cgroup | undefined> {
  try {
    await move(folder, [pid]);
    // What it has started by now is not in it. What comes from those that are is.
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const inside = new Set(readLines(join(folder, 'cgroup.procs')));
      const outside = listDescendants(pid).filter((below) => !inside.has(String(below)));
      if (outside.length === 0) break;
      await move(folder, outside);
    }
  } catch {
    remove(folder);
    return undefined;
  }
  return { end: async () => endCgroup(folder) };
}

/** Describes the owner of a cgroup: the PID namespace, this process's id, and its start time. */
function describeOwner(): string {
  const place = readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '');
  return `sluice-${place}-${process.pid}-${readProcessStat(process.pid)?.startTicks ?? ''}`;
}

/** Ends remaining processes of runs whose Sluice was killed. */
function endLeftovers(parent: string): void {
  const [, place] = describeOwner().split('-');
  for (const name of readdirSync(parent)) {
    const [, namespace, pid, ticks] = /^sluice-(\d+)-(\d+)-(\d+)-\d+$/.exec(name) ?? [];
    if (namespace !== place || readProcessStat(Number(pid))?.startTicks === ticks) continue;
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
      // It may be gone by now; anything else means that the folder is not ours to use.
      if (getErrorCode(error) !== 'ESRCH') throw error;
    }
  }
}

async function endCgroup(folder: string): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS && !isEmpty(folder); round += 1) {
    kill(folder);
    await isGoneWithin(() => isEmpty(folder), VANISH_MS);
  }
  remove(folder);
}

/** By the kernel where it can (Linux 5.14), which misses nothing that is being started. */
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
      // It exited by itself.
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

/** Our own cgroup, if there is a file system of version 2 that shows it. */
function findOwnCgroup(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const own = readLines('/proc/self/cgroup')
    .find((line) => line.startsWith('0::'))
    ?.slice(3);
  for (const line of readLines('/proc/self/mountinfo')) {
    const [, , , root = '', place = ''] = line.split(' ');
    if (own === undefined || !/ - cgroup2 /.test(line)) continue;
    if (root === '/') return join(place, own);
    if (own === root || own.startsWith(`${root}/`)) return join(place, own.slice(root.length));
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
