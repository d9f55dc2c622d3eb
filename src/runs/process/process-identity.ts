import { execFile } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { promisify } from 'node:util';
import { getErrorCode } from '../../base/index.js';

/** A process that cannot be mistaken for a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When the kernel started it, as an opaque text; null if that cannot be had. */
  readonly started: string | null;
}

/** `unknown`: it belongs to another boot, machine or container, and cannot be judged from here. */
export type ProcessState = 'alive' | 'gone' | 'unknown';

const IS_LINUX = process.platform === 'linux';

/** Identifies a process; undefined if there is none with that number. */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  if (IS_LINUX) {
    const stat = readProcessStat(pid);
    return stat === undefined ? undefined : { pid, started: `${getNamespace()}/${stat.startTicks}` };
  }
  if (!answersToSignals(pid)) return undefined;
  return { pid, started: await askStartTime(pid) };
}

let own: Promise<ProcessIdentity> | undefined;

/** The identity of this process. */
export async function identifyOwnProcess(): Promise<ProcessIdentity> {
  own ??= identifyProcess(process.pid).then((found) => found ?? { pid: process.pid, started: null });
  return own;
}

/** Whether a process still runs. A zombie does not. */
export async function getProcessState({ pid, started }: ProcessIdentity): Promise<ProcessState> {
  if (started === null) return answersToSignals(pid) ? 'alive' : 'gone';
  if (IS_LINUX) {
    const place = getNamespace();
    if (!started.startsWith(`${place}/`)) return 'unknown';
    const stat = readProcessStat(pid);
    return stat !== undefined && !stat.isZombie && `${place}/${stat.startTicks}` === started ? 'alive' : 'gone';
  }
  return answersToSignals(pid) && (await askStartTime(pid)) === started ? 'alive' : 'gone';
}

/** Linux's data about a process. */
export interface ProcessStat {
  readonly parent: number;
  readonly group: number;
  readonly isZombie: boolean;
  /** In clock ticks since the boot: with the boot's id it is unique for a number. */
  readonly startTicks: string;
}

/** Reads `/proc/<pid>/stat`; synchronous, because it is memory of the kernel and must be read before the child can go. */
export function readProcessStat(pid: number): ProcessStat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The program's name may hold spaces and brackets; the last bracket ends it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group] = fields;
  return {
    parent: Number(parent),
    group: Number(group),
    isZombie: state === 'Z' || state === 'X',
    startTicks: fields[19] ?? '',
  };
}

let place: string | undefined;

/** The boot and the namespace in which process numbers mean something. */
function getNamespace(): string {
  place ??= `${readBootId()}/${readNamespace()}`;
  return place;
}

function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return 'unknown-boot';
  }
}

function readNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '');
  } catch {
    return '0';
  }
}

/** Whether a signal could be sent to this process, or, with a negative number, to its group. */
export function answersToSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user exists, too.
    return getErrorCode(error) === 'EPERM';
  }
}

async function askStartTime(pid: number): Promise<string | null> {
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
