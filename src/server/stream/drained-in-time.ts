import type { Outlet } from './outlet.js';

/** A reader who takes nothing for so long is stuck. */
const STALL_MS = 60_000;

/** Waits until a reader has taken everything; false if it does not. */
export async function drainedInTime(outlet: Outlet, stallMs = STALL_MS): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), stallMs);
  });
  const isDrained = await Promise.race([outlet.drained().then(() => true), late]);
  clearTimeout(timer);
  return isDrained;
}
