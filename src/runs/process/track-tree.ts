import { isGoneWithin, listBelow, listPids } from './process-group.js';
import { readProcessStat } from './process-identity.js';
import type { ProcessStat } from './process-identity.js';

/** Remembers what a process started, and what that started, as long as it runs. */
export interface TrackedTree {
  /** Looks now, and not only at the next time. */
  look(): void;
  /** Stops looking, and ends what is left. */
  end(): Promise<void>;
}

/** Between two looks; more on a machine with many processes, so that looking takes a twentieth of the time at most. */
const PAUSE_MS = 100;
const SHARE = 20;
const GRACE_MS = 500;
const VANISH_MS = 5000;

/** By number; with its start, since numbers are used again. */
type Known = Map<number, string>;

const trees = new Set<Known>();
let timer: NodeJS.Timeout | undefined;

/**
 * Watches the tree of a process by looking at all processes again and again, one look for all trees. A process that was seen
 * once is known for good, also after it left its group and session, changed its environment and lost its parent. One that
 * does all of that between two looks is missed: this is best effort, for where there is neither a sandbox nor a cgroup. Linux only.
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
  // Whoever waits for a run keeps the process alive.
  timer.unref();
}

/** Adds what came from known processes, and forgets those that are gone. */
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
        // It went by itself.
      }
    }
    if (await isGoneWithin(() => listLeft().length === 0, milliseconds)) return;
  }
}
