import { setTimeout as sleep } from 'node:timers/promises';
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
 * How far apart two writes begin. One that comes alone does not wait; those of many runs share a transaction, whose cost
 * hardly depends on how many there are.
 */
const GATHER_MS = 25;

/** Limits one write, in characters. */
const LARGEST_WRITE = 4 * 1024 * 1024;

/** Gathers what comes in quick succession into one write, one at a time. */
export function createGatherer(write: AppendRows, gatherMs = GATHER_MS): AppendRows {
  const waiting: Waiting[] = [];
  let isWriting = false;
  let lastStart = Number.NEGATIVE_INFINITY;

  async function writeWaiting(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const rest = lastStart + gatherMs - performance.now();
      // At least a turn of the event loop, in which others may come.
      await sleep(Math.max(0, rest));
      lastStart = performance.now();
      const batch = takeBatch(waiting);
      try {
        await write(batch.flatMap(({ rows }) => rows));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isWriting = false;
  }

  return async (rows) =>
    new Promise((resolve, reject) => {
      const size = rows.reduce((total, { lines }) => total + lines.length, 0);
      waiting.push({ rows, size, resolve, reject });
      if (!isWriting) void writeWaiting();
    });
}

/** The oldest entries; at least one. */
function takeBatch(waiting: Waiting[]): Waiting[] {
  let total = 0;
  const end = waiting.findIndex(({ size }, index) => (total += size) > LARGEST_WRITE && index > 0);
  return waiting.splice(0, end === -1 ? waiting.length : end);
}
