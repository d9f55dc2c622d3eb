import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { OutputQueue } from './output-queue.js';

/** How often the silence of an ended process is looked at. */
const TICK_MS = 20;

/**
 * Reads on until the output is closed, silent for a while, or has had its time. Time counts only while the reader keeps
 * up: bytes that wait for it are never given up.
 */
export async function drainOutput(
  queue: OutputQueue,
  { quietMs, drainMs }: { readonly quietMs: number; readonly drainMs: number },
): Promise<void> {
  let spent = 0;
  let quiet = 0;
  while (!queue.isEnded && quiet < quietMs && spent < drainMs) {
    const { arrivals, isFull } = queue;
    await Promise.race([sleep(TICK_MS), queue.ended]);
    // After a busy loop a timer comes before the bytes that were there first.
    await nextTurn();
    if (isFull || queue.isFull) continue;
    spent += TICK_MS;
    quiet = queue.arrivals === arrivals ? quiet + TICK_MS : 0;
  }
}
