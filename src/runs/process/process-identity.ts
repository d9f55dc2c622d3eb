import { execFile } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import { getErrorCode } from '../../base/index.js';

/** Identifies a process, so it cannot be mistaken for a later process with the same id. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Its start time as an opaque string; null if unknown. */
  readonly started: string | null;
}

/** `unknown`: it belongs to another boot, host or container, so its state cannot be determined here. */
export type ProcessState = 'alive' | 'gone' | 'unknown';

const IS_LINUX = process.platform === 'linux';

export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  if (IS_LINUX) {
    const stat = readProcessStat(pid);
    return stat === undefined ? undefined : { pid, started: `${getNamespace()}/${stat.startTicks}` };
  }
  if (!canSignal(pid)) return undefined;
  return { pid, started: await readStartTime(pid) };
}

let ownIdentity: Promise<ProcessIdentity> | undefined;

export async function identifyOwnProcess(): Promise<ProcessIdentity> {
  ownIdentity ??= identifyProcess(process.pid).then((found) => found ?? { pid: process.pid, started: null });
  return ownIdentity;
}

/** Returns whether a process is still running. A zombie is not. */
export async function getProcessState({ pid, started }: ProcessIdentity): Promise<ProcessState> {
  if (started === null) return canSignal(pid) ? 'alive' : 'gone';
  if (IS_LINUX) {
    const namespaceId = getNamespace();
    if (!started.startsWith(`${namespaceId}/`)) return 'unknown';
    const stat = readProcessStat(pid);
    return stat !== undefined && !stat.isZombie && `${namespaceId}/${stat.startTicks}` === started ? 'alive' : 'gone';
  }
  return canSignal(pid) && (await readStartTime(pid)) === started ? 'alive' : 'gone';
}

export interface ProcessStat {
  readonly parent: number;
  readonly group: number;
  readonly isZombie: boolean;
  /** The start time in clock ticks since boot; unique in combination with the process id and the boot id. */
  readonly startTicks: string;
}

/** Reads `/proc/<pid>/stat`; undefined if the process has exited. Synchronous: it could exit soon. */
export function readProcessStat(pid: number): ProcessStat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The command name can contain spaces and parentheses; the last parenthesis ends it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group] = fields;
  return {
    parent: Number(parent),
    group: Number(group),
    isZombie: state === 'Z' || state === 'X',
    startTicks: fields[19] ?? '',
  };
}

let namespaceId: string | undefined;

/** Returns the boot id and the PID namespace, which together form the scope where process ids are unique. */
function getNamespace(): string {
  namespaceId ??= `${readBootId()}/${readNamespace()}`;
  return namespaceId;
}

function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return 'unknown-boot';
  }
}

/** Returns the id of this process's PID namespace. */
export function readNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '');
  } catch {
    return '0';
  }
}

/** Whether a process exists, or a process group if the id is negative. */
export function canSignal(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists, but belongs to another user.
    return getErrorCode(error) === 'EPERM';
  }
}

async function readStartTime(pid: number): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)], {
      env: { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' },
      timeout: 5000,
    });
    return stdout.trim() === '' ? null : stdout.trim();
  } catch {
    return null;
  }
}
