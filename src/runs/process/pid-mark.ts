import { readFileSync } from 'node:fs';

/** A position in the sequence of process ids. Linux only. */
export interface PidMark {
  /** The last assigned id. */
  readonly last: number;
  /** The number of processes and threads started since boot. */
  readonly started: number;
}

/** Returns the current position; undefined if it cannot be read. */
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
 *
 * @example
 * const mark = readPidMark()
 * // … a process is started, and others by it …
 * listPids().filter(createPidFilter(mark))
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
