import type { EventRow } from './event-rows.js';

/** Writes rows; resolves when they are stored. */
export type AppendRows = (rows: readonly EventRow[]) => Promise<void>;

interface Waiting {
  readonly rows: readonly EventRow[];
  readonly size: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * How far apart two writes begin while more is to be expected. Rows of many runs share a transaction, whose cost hardly
 * depends on how many there are.
 */
const GATHER_MS = 25;

/** A run that appended within this time is expected to do so again. */
const ACTIVE_MS = 250;

/** Limits one write, in characters. */
const MAX_WRITE_BYTES = 4 * 1024 * 1024;

/** Fewer rows are not worth two writes. */
const MIN_SPLIT_ROWS = 128;

/** How writes are made. */
interface GatherOptions {
  /**
   * Writes at a time, 1 by default. With two, one is prepared while the other waits for the disk. Rows of a run are never in two of
   * them: what a reader finds has no gaps.
   */
  readonly atOnce?: number;
}

/**
 * Gathers rows into one write. A write begins when every active run has submitted its rows or waits for earlier ones, so
 * that a single run does not wait; slow ones are waited for at most {@link GATHER_MS}.
 */
export function createGatherer(write: AppendRows, { atOnce = 1 }: GatherOptions = {}): AppendRows {
  let waiting: Waiting[] = [];
  /** Runs whose rows are being written. */
  const busy = new Set<string>();
  /** When each run appended last, the longest ago first. */
  const active = new Map<string, number>();
  let writes = 0;
  let lastStart = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;
  const waitingRuns = new Set<string>();

  /** Plans the next write, unless one is planned or enough are in progress. */
  function plan(): void {
    if (writes >= atOnce || waiting.length === 0 || immediate !== undefined) return;
    const now = performance.now();
    for (const [runId, last] of active) {
      if (last > now - ACTIVE_MS) break;
      active.delete(runId);
    }
    const rest = waitingRuns.size + busy.size >= active.size ? 0 : lastStart + GATHER_MS - now;
    if (rest > 0) {
      timer ??= setTimeout(start, rest);
      return;
    }
    // The turn of the event loop is finished first: others may come in it.
    immediate = setImmediate(start);
  }

  function start(): void {
    clearTimeout(timer);
    clearImmediate(immediate);
    timer = undefined;
    immediate = undefined;
    const batch = takeBatch();
    // All that wait belong to runs whose rows are being written; the end of that write plans the next.
    if (batch.length === 0) return;
    const runs = new Set(batch.flatMap(listRuns));
    for (const run of runs) {
      busy.add(run);
      waitingRuns.delete(run);
    }
    writes += 1;
    lastStart = performance.now();
    void finish(batch, runs);
    plan();
  }

  /** The oldest entries of runs that are not busy; half of them if many wait and nothing is being written yet. */
  function takeBatch(): Waiting[] {
    const rows = waiting.reduce((sum, entry) => sum + entry.rows.length, 0);
    const most = writes + 1 < atOnce && rows >= MIN_SPLIT_ROWS ? Math.ceil(rows / atOnce) : Number.POSITIVE_INFINITY;
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    const held = new Set(busy);
    let [size, count] = [0, 0];
    for (const entry of waiting) {
      const isFull = batch.length > 0 && (size + entry.size > MAX_WRITE_BYTES || count >= most);
      if (isFull || entry.rows.some(({ runId }) => held.has(runId))) {
        for (const run of listRuns(entry)) held.add(run);
        left.push(entry);
        continue;
      }
      batch.push(entry);
      size += entry.size;
      count += entry.rows.length;
    }
    waiting = left;
    return batch;
  }

  async function finish(batch: readonly Waiting[], runs: ReadonlySet<string>): Promise<void> {
    try {
      await write(batch.flatMap(({ rows }) => rows));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    writes -= 1;
    for (const run of runs) busy.delete(run);
    for (const entry of waiting) for (const run of listRuns(entry)) if (runs.has(run)) waitingRuns.add(run);
    plan();
  }

  return async (rows) =>
    new Promise((resolve, reject) => {
      const size = rows.reduce((total, { lines }) => total + lines.length, 0);
      waiting.push({ rows, size, resolve, reject });
      for (const { runId } of rows) {
        if (!busy.has(runId)) waitingRuns.add(runId);
        active.delete(runId);
        active.set(runId, performance.now());
      }
      plan();
    });
}

function listRuns({ rows }: Waiting): string[] {
  return rows.map(({ runId }) => runId);
}
