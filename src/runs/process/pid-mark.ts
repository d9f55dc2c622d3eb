import { readFileSync } from 'node:fs';

/** A moment in the sequence of process numbers. Linux only. */
export interface PidMark {
  /** The last number that was given out. */
  readonly last: number;
  /** How many processes and threads were started since the machine was. */
  readonly started: number;
}

/** The mark of now; undefined if the system does not say. */
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
 * Makes a function that says whether a number may have been given out since a mark; all may, where that cannot be known. Numbers are
 * given out in sequence and begin again after the largest, so that they say this until as many processes were started as there
 * are numbers.
 *
 * @example
 * const mark = readPidMark()
 * // … a process is started, and others by it …
 * listPids().filter(createPidFilter(mark))
 */
export function createPidFilter(mark: PidMark | undefined): (pid: number) => boolean {
  const now = readPidMark();
  if (mark === undefined || now === undefined || now.started - mark.started >= readLargest() / 2) return () => true;
  const [first, last] = [mark.last, now.last];
  return first <= last ? (pid) => pid > first && pid <= last : (pid) => pid > first || pid <= last;
}

function readLargest(): number {
  try {
    return Number(readFileSync('/proc/sys/kernel/pid_max', 'latin1'));
  } catch {
    return 0;
  }
}
