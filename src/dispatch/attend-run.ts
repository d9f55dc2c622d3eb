import { untilDone } from '../orders/index.js';
import type { Logger } from '../base/index.js';
import type { Run, RunRecords } from '../runs/index.js';
import type { RunResult } from '../records/index.js';

/** A run under way and the claim it is done under. */
export interface AttendedRun {
  readonly run: Run;
  /** Whether the agent may ask: then its events are read, to know when it waits. */
  readonly isInteractive: boolean;
  readonly workerId: string;
  readonly leaseMs: number;
  readonly store: RunRecords;
  readonly clock: () => number;
  readonly logger: Logger;
  /** Stops the run when it is aborted. */
  readonly signal: AbortSignal;
}

/** How late a wish to cancel, or a reply, may reach a run. */
const LOOK_MS = 500;

/**
 * Keeps a run's claim alive, carries replies and wishes to cancel to it, and writes its end down. Resolves with its result
 * when all of that is done.
 */
export async function attendRun(attended: AttendedRun): Promise<RunResult> {
  const { run, isInteractive, workerId, leaseMs, store, clock, logger, signal } = attended;
  let isWaiting = false;
  let lastRenewed = clock();
  let isLooking = false;

  const stop = () => void run.cancel();
  const watchQuestions = async () => {
    for await (const { protocol, event } of run.events) {
      if (protocol !== 'fcmp') continue;
      if (event.type === 'user.input.required') isWaiting = true;
      else if (event.type === 'user.input.replied') isWaiting = false;
    }
  };
  const renew = async () => {
    const state = isWaiting ? 'waiting' : 'running';
    const { held, cancel, reply } = await store.renewRun({ id: run.id, workerId, leaseMs, now: clock(), state });
    lastRenewed = clock();
    if (!held || cancel) return stop();
    if (reply === null) return;
    try {
      await run.reply(reply);
      isWaiting = false;
    } catch (error) {
      // It goes on waiting, for a better one.
      logger.warn('reply could not be handed on', { run_id: run.id, error: String(error) });
    }
  };
  const look = async () => {
    // Renewing writes, so it is done only as often as the lease needs it; in between reading is enough.
    const isDue = clock() - lastRenewed >= leaseMs / 3;
    if (isDue || isWaiting) return renew();
    if ((await store.findRun(run.id))?.cancel_requested === true) stop();
  };
  const timer = setInterval(
    () => {
      if (isLooking) return;
      isLooking = true;
      look()
        .catch((error: unknown) => {
          logger.warn('run could not be renewed', { run_id: run.id, error: String(error) });
          // Somebody else may have ended it by now.
          if (clock() - lastRenewed > 2 * leaseMs) stop();
        })
        .finally(() => {
          isLooking = false;
        });
    },
    Math.min(LOOK_MS, leaseMs / 3),
  );
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  const questions = isInteractive ? watchQuestions() : Promise.resolve();
  // The log may fail under its reader; the run's own result tells.
  questions.catch(() => undefined);
  const result = await run.result;
  clearInterval(timer);
  signal.removeEventListener('abort', stop);
  await untilDone(async () => store.endRun({ id: run.id, workerId, result, now: clock() }), { logger, signal });
  return result;
}
