import { waitUntilGone, collectDescendants, listPids } from './process-group.js';
import { readProcessStat } from './process-identity.js';
import type { ProcessStat } from './process-identity.js';

/** Tracks all descendants of a process while it runs. */
export interface TrackedTree {
  /** Scans immediately instead of at the next interval. */
  scan(): void;
  /** Stops tracking and terminates the remaining processes. */
  end(): Promise<void>;
}

/** The time between two scans; longer on a host with many processes, so scanning takes at most 5 % of the time. */
const SCAN_INTERVAL_MS = 100;
const SCAN_INTERVAL_FACTOR = 20;
const GRACE_MS = 500;
const EXIT_TIMEOUT_MS = 5000;

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
export function trackTree(pid: number): TrackedTree {
  const known: KnownProcesses = new Map();
  const stat = process.platform === 'linux' ? readProcessStat(pid) : undefined;
  if (stat === undefined) return { scan: () => undefined, end: async () => undefined };
  known.set(pid, stat.startTicks);
  trees.add(known);
  if (timer === undefined) scheduleScan(SCAN_INTERVAL_MS);
  return {
    scan: () => addDescendants([known]),
    async end() {
      if (trees.delete(known)) addDescendants([known]);
      if (trees.size === 0) {
        clearTimeout(timer);
        timer = undefined;
      }
      known.delete(pid);
      await terminateAll(known);
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
  const all = new Map<number, ProcessStat>();
  const children = new Map<number, number[]>();
  for (const pid of listPids()) {
    const stat = readProcessStat(pid);
    if (stat === undefined || stat.isZombie) continue;
    all.set(pid, stat);
    children.set(stat.parent, [...(children.get(stat.parent) ?? []), pid]);
  }
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

async function terminateAll(known: KnownProcesses): Promise<void> {
  const listRunning = (): number[] =>
    [...known].flatMap(([pid, ticks]) => {
      const stat = readProcessStat(pid);
      return stat !== undefined && !stat.isZombie && stat.startTicks === ticks ? [pid] : [];
    });
  for (const [signal, milliseconds] of [
    ['SIGTERM', GRACE_MS],
    ['SIGKILL', EXIT_TIMEOUT_MS],
  ] as const) {
    for (const pid of listRunning()) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has already exited.
      }
    }
    if (await waitUntilGone(() => listRunning().length === 0, milliseconds)) return;
  }
}
