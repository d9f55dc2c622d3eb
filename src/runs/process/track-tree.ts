import { isGoneWithin, listBelow, listPids } from './process-group.js';
import { readProcessStat } from './process-identity.js';
import type { ProcessStat } from './process-identity.js';

/** Tracks all descendants of a process while it runs. */
export interface TrackedTree {
  /** Scans now instead of at the next interval. */
  look(): void;
  /** Stops tracking, and ends the processes that are left. */
  end(): Promise<void>;
}

/** Time between two scans; longer on a machine with many processes, so that scanning takes at most a twentieth of the time. */
const PAUSE_MS = 100;
const SHARE = 20;
const GRACE_MS = 500;
const VANISH_MS = 5000;

/** Start times by process id, since ids are reused. */
type Known = Map<number, string>;

const trees = new Set<Known>();
let timer: NodeJS.Timeout | undefined;

/**
 * Tracks the descendants of a process by scanning all processes periodically, one scan for all trees. A process that was seen
 * once stays known, even after it leaves its group and session, changes its environment and loses its parent. One that does all
 * of that between two scans is missed: this is best effort, for where there is neither a sandbox nor a cgroup. Linux only.
 */
export function trackTree(pid: number): TrackedTree {
  const known: Known = new Map();
  const stat = process.platform === 'linux' ? readProcessStat(pid) : undefined;
  if (stat === undefined) return { look: () => undefined, end: async () => undefined };
  known.set(pid, stat.startTicks);
  trees.add(known);
  if (timer === undefined) plan(PAUSE_MS);
  return {
    look: () => addNew([known]),
    async end() {
      if (trees.delete(known)) addNew([known]);
      if (trees.size === 0) {
        clearTimeout(timer);
        timer = undefined;
      }
      known.delete(pid);
      await endKnown(known);
    },
  };
}

function plan(milliseconds: number): void {
  timer = setTimeout(() => {
    const started = performance.now();
    addNew(trees);
    plan(Math.max(PAUSE_MS, (performance.now() - started) * SHARE));
  }, milliseconds);
  // The timer need not keep this process alive: the caller that waits for the run does.
  timer.unref();
}

/** Adds children of known processes, and removes processes that have exited. */
function addNew(trackers: Iterable<Known>): void {
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
      for (const below of listBelow(pid, children)) known.set(below, all.get(below)?.startTicks ?? '');
    }
  }
}

async function endKnown(known: Known): Promise<void> {
  const listLeft = (): number[] =>
    [...known].flatMap(([pid, ticks]) => {
      const stat = readProcessStat(pid);
      return stat !== undefined && !stat.isZombie && stat.startTicks === ticks ? [pid] : [];
    });
  for (const [signal, milliseconds] of [
    ['SIGTERM', GRACE_MS],
    ['SIGKILL', VANISH_MS],
  ] as const) {
    for (const pid of listLeft()) {
      try {
        process.kill(pid, signal);
      } catch {
        // It exited by itself.
      }
    }
    if (await isGoneWithin(() => listLeft().length === 0, milliseconds)) return;
  }
}
