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
const LARGEST_WRITE = 4 * 1024 * 1024;

/**
 * Gathers rows into one write, one write at a time. A write begins when every active run has brought its rows, so that a
 * run that is alone does not wait; the slow ones are waited for as long as {@link GATHER_MS}.
 */
export function createGatherer(write: AppendRows): AppendRows {
  const waiting: Waiting[] = [];
  const waitingRuns = new Set<string>();
  /** When each run appended last, the longest ago first. */
  const active = new Map<string, number>();
  let isWriting = false;
  let lastStart = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let immediate: NodeJS.Immediate | undefined;

  /** Plans the next write, unless one is planned or in progress. */
  function plan(): void {
    if (isWriting || waiting.length === 0 || immediate !== undefined) return;
    const now = performance.now();
    for (const [runId, last] of active) {
      if (last > now - ACTIVE_MS) break;
      active.delete(runId);
    }
    const rest = waitingRuns.size >= active.size ? 0 : lastStart + GATHER_MS - now;
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
    isWriting = true;
    lastStart = performance.now();
    const batch = takeBatch(waiting);
    waitingRuns.clear();
    for (const { rows } of waiting) for (const { runId } of rows) waitingRuns.add(runId);
    void finish(batch);
  }

  async function finish(batch: readonly Waiting[]): Promise<void> {
    try {
      await write(batch.flatMap(({ rows }) => rows));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    isWriting = false;
    plan();
  }

  return async (rows) =>
    new Promise((resolve, reject) => {
      const size = rows.reduce((total, { lines }) => total + lines.length, 0);
      waiting.push({ rows, size, resolve, reject });
      for (const { runId } of rows) {
        waitingRuns.add(runId);
        active.delete(runId);
        active.set(runId, performance.now());
      }
      plan();
    });
}

/** The oldest entries; at least one. */
function takeBatch(waiting: Waiting[]): Waiting[] {
  let total = 0;
  const end = waiting.findIndex(({ size }, index) => (total += size) > LARGEST_WRITE && index > 0);
  return waiting.splice(0, end === -1 ? waiting.length : end);
}
