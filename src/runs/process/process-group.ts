import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { SluiceError } from '../../base/index.js';
import { answersToSignals, readProcessStat } from './process-identity.js';

/** How long a killed process may take to vanish before it counts as stuck in the kernel. */
const VANISH_MS = 5000;

/** Sends a signal to a whole group; one that has already ended is not an error. */
function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    // Windows has no groups.
    process.kill(process.platform === 'win32' ? leader : -leader, signal);
  } catch {
    // Nothing left, or nothing we may signal: the wait that follows shows which.
  }
}

/** Whether anything of the group still runs. */
export async function isGroupAlive(leader: number): Promise<boolean> {
  if (process.platform === 'win32') return answersToSignals(leader);
  if (!answersToSignals(-leader)) return false;
  if (process.platform !== 'linux' || isRunning(leader)) return true;
  // Zombies answer too, and without a reaping init they stay for ever.
  return (await findRunningGroups()).has(leader);
}

function isRunning(pid: number): boolean {
  return readProcessStat(pid)?.isZombie === false;
}

let search: Promise<ReadonlySet<number>> | undefined;

/** Hundreds of groups may be ended at once: calls in the same turn share one scan of the system. */
async function findRunningGroups(): Promise<ReadonlySet<number>> {
  search ??= nextTurn().then(() => {
    search = undefined;
    const stats = listPids().map(readProcessStat);
    return new Set(stats.flatMap((stat) => (stat === undefined || stat.isZombie ? [] : [stat.group])));
  });
  return search;
}

/** All process numbers of a Linux system. */
export function listPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Ends a group with TERM, and after the grace period with KILL; resolves when nothing of it is left. */
export async function endGroup(leader: number, graceMs: number): Promise<void> {
  signalGroup(leader, 'SIGTERM');
  if (await isGoneWithin(async () => !(await isGroupAlive(leader)), graceMs)) return;
  await killGroup(leader);
}

/**
 * Ends a sandbox like a group. TERM goes to the processes inside only: it would end the leader, which makes the sandbox, and
 * with it at once all that could still react. KILL ends the leader, and the kernel everything inside, whatever its group.
 */
export async function endSandbox(leader: number, graceMs: number): Promise<void> {
  let isSignaled = false;
  const isGone = async (): Promise<boolean> => {
    // Again until there is one: the program inside may not have been started yet.
    if (!isSignaled) isSignaled = signalInside(leader);
    return !(await isGroupAlive(leader));
  };
  if (await isGoneWithin(isGone, graceMs)) return;
  await killGroup(leader);
}

/** Sends TERM to everything below the first process of a sandbox, which ignores it; whether there was anything. */
function signalInside(leader: number): boolean {
  const children = readChildren();
  const [first] = children.get(leader) ?? [];
  const inside = first === undefined ? [] : listBelow(first, children);
  for (const pid of inside) {
    try {
      process.kill(pid, 'SIGTERM');
    } catch {
      // It exited by itself.
    }
  }
  return inside.length > 0;
}

/** The children of every process of a Linux system. */
function readChildren(): ReadonlyMap<number, readonly number[]> {
  const children = new Map<number, number[]>();
  for (const pid of listPids()) {
    const parent = readProcessStat(pid)?.parent;
    if (parent === undefined) continue;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [pid]);
    else siblings.push(pid);
  }
  return children;
}

/** All processes below one, itself not among them. */
export function listBelow(pid: number, children: ReadonlyMap<number, readonly number[]>): number[] {
  const found = [...(children.get(pid) ?? [])];
  for (const each of found) found.push(...(children.get(each) ?? []));
  return found;
}

/** Whether the kernel lists the children of a process, so that not all processes have to be read to find them. */
const LISTS_CHILDREN = existsSync('/proc/self/task') && existsSync(`/proc/self/task/${process.pid}/children`);

/**
 * All processes below one, now. A child that comes or goes meanwhile may be missing; ask again where that matters. Linux only.
 */
export function listDescendants(pid: number): number[] {
  if (!LISTS_CHILDREN) return listBelow(pid, readChildren());
  const found = readOwnChildren(pid);
  for (const each of found) found.push(...readOwnChildren(each));
  return found;
}

/** Each thread of a process has its own children. */
function readOwnChildren(pid: number): number[] {
  try {
    const lists = readdirSync(`/proc/${pid}/task`).map((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1'),
    );
    return lists.join(' ').split(' ').filter(Boolean).map(Number);
  } catch {
    // It has exited.
    return [];
  }
}

async function killGroup(leader: number): Promise<void> {
  signalGroup(leader, 'SIGKILL');
  if (await isGoneWithin(async () => !(await isGroupAlive(leader)), VANISH_MS)) return;
  throw new SluiceError(
    'PROCESS_NOT_ENDED',
    `Process group ${leader} still runs after SIGKILL. Check what it waits for (ps -o pid,stat,wchan) and end it by hand.`,
  );
}

/** Polls often at first and then more rarely. */
export async function isGoneWithin(isGone: () => boolean | Promise<boolean>, milliseconds: number): Promise<boolean> {
  const until = performance.now() + milliseconds;
  for (let pause = 5; ; pause = Math.min(pause * 1.5, 100)) {
    if (await isGone()) return true;
    const left = until - performance.now();
    if (left <= 0) return false;
    await sleep(Math.min(pause, left));
  }
}
