import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { SluiceError, groupBy } from '../../base/index.js';
import { canSignal, readProcessStat, type ProcessStat } from './process-identity.js';

/** The time a killed process has to disappear before it counts as stuck in the kernel. */
export const EXIT_TIMEOUT_MS = 5000;

/** Sends a signal to a process group; does nothing if the group no longer exists. */
function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    // Windows has no groups.
    process.kill(process.platform === 'win32' ? leader : -leader, signal);
  } catch {
    // The group has ended, or signaling it is not permitted: the caller waits for its end and finds out which.
  }
}

export async function isGroupAlive(leader: number): Promise<boolean> {
  if (process.platform === 'win32') return canSignal(leader);
  if (!canSignal(-leader)) return false;
  if (process.platform !== 'linux' || isRunning(leader)) return true;
  // Zombies accept signals too, and stay forever without an init process that reaps them.
  return (await findRunningGroups()).has(leader);
}

/** Whether a process runs; with its start time, whether it is still the same one. A zombie does not run. */
function isRunning(pid: number, startTicks?: string): boolean {
  const stat = readProcessStat(pid);
  return stat?.isZombie === false && (startTicks === undefined || stat.startTicks === startTicks);
}

/** Sends SIGTERM, then SIGKILL after the grace period; returns whether everything has exited. */
async function terminate(
  send: (signal: 'SIGTERM' | 'SIGKILL') => void,
  isGone: () => boolean | Promise<boolean>,
  graceMs: number,
): Promise<boolean> {
  send('SIGTERM');
  if (await waitUntilGone(isGone, graceMs)) return true;
  send('SIGKILL');
  return waitUntilGone(isGone, EXIT_TIMEOUT_MS);
}

/** Terminates processes, given by their ids and start times, and waits until they have exited. */
export async function terminateProcesses(
  processes: Iterable<readonly [pid: number, startTicks: string]>,
  graceMs: number,
): Promise<void> {
  const listRunning = (): number[] => [...processes].flatMap(([pid, ticks]) => (isRunning(pid, ticks) ? [pid] : []));
  await terminate(
    (signal) => signalAll(listRunning(), signal),
    () => listRunning().length === 0,
    graceMs,
  );
}

/** Sends a signal to processes, some of which might have exited. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has already exited.
    }
  }
}

let search: Promise<ReadonlySet<number>> | undefined;

/** Finds all groups with running processes. Calls in the same tick share one scan. */
async function findRunningGroups(): Promise<ReadonlySet<number>> {
  search ??= nextTurn().then(() => {
    search = undefined;
    return new Set([...readRunningProcesses().values()].map(({ group }) => group));
  });
  return search;
}

export function listPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Returns all running processes by id. Linux only. */
export function readRunningProcesses(): Map<number, ProcessStat> {
  const processes = new Map<number, ProcessStat>();
  for (const pid of listPids()) {
    const stat = readProcessStat(pid);
    if (stat?.isZombie === false) processes.set(pid, stat);
  }
  return processes;
}

/** Terminates a group with SIGTERM, then SIGKILL; resolves when all its processes have exited. */
export async function terminateGroup(
  leader: number,
  graceMs: number,
  isGone = async (): Promise<boolean> => !(await isGroupAlive(leader)),
  send = (signal: NodeJS.Signals): void => signalGroup(leader, signal),
): Promise<void> {
  if (await terminate(send, isGone, graceMs)) return;
  throw new SluiceError(
    'PROCESS_NOT_ENDED',
    `Process group ${leader} is still running after SIGKILL. Check what it is waiting for (ps -o pid,stat,wchan) and kill it manually.`,
  );
}

/**
 * Terminates a sandbox like a group. SIGTERM is sent only to the processes inside, so they can shut down: the leader
 * created the sandbox, and its exit would kill them immediately. SIGKILL kills the leader, and the kernel kills
 * everything inside.
 */
export async function terminateSandbox(leader: number, graceMs: number): Promise<void> {
  let isSignaled = false;
  const isGone = async (): Promise<boolean> => {
    // Repeated until a process is found, because the command inside might not have been started yet.
    if (!isSignaled) isSignaled = signalInside(leader);
    return !(await isGroupAlive(leader));
  };
  await terminateGroup(leader, graceMs, isGone, (signal) => {
    if (signal === 'SIGKILL') signalGroup(leader, signal);
  });
}

/** Sends SIGTERM to the descendants of a sandbox's first process; returns whether any existed. */
function signalInside(leader: number): boolean {
  const children = groupByParent(readRunningProcesses());
  const [first] = children.get(leader) ?? [];
  const inside = first === undefined ? [] : collectDescendants(first, children);
  signalAll(inside, 'SIGTERM');
  return inside.length > 0;
}

export function groupByParent(processes: ReadonlyMap<number, ProcessStat>): ReadonlyMap<number, readonly number[]> {
  return groupBy(processes.keys(), (pid) => processes.get(pid)?.parent ?? 0);
}

/** Returns all descendants of a process, excluding the process itself. */
export function collectDescendants(pid: number, children: ReadonlyMap<number, readonly number[]>): number[] {
  const descendants = [...(children.get(pid) ?? [])];
  for (const each of descendants) descendants.push(...(children.get(each) ?? []));
  return descendants;
}

/** Whether the kernel lists a process's children; otherwise all processes have to be scanned. */
const KERNEL_LISTS_CHILDREN = existsSync('/proc/self/task') && existsSync(`/proc/self/task/${process.pid}/children`);

/** Returns a process's current descendants; one that starts or exits meanwhile can be missing. Linux only. */
export function listDescendants(pid: number): number[] {
  if (!KERNEL_LISTS_CHILDREN) return collectDescendants(pid, groupByParent(readRunningProcesses()));
  const descendants = readOwnChildren(pid);
  for (const each of descendants) descendants.push(...readOwnChildren(each));
  return descendants;
}

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

/** Waits until a condition is met, polling frequently at first and then less often; returns false if the time is up. */
export async function waitUntilGone(isGone: () => boolean | Promise<boolean>, milliseconds: number): Promise<boolean> {
  const until = performance.now() + milliseconds;
  for (let pause = 5; ; pause = Math.min(pause * 1.5, 100)) {
    if (await isGone()) return true;
    const left = until - performance.now();
    if (left <= 0) return false;
    await sleep(Math.min(pause, left));
  }
}
