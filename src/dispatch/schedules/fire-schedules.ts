import { isSluiceError } from '../../base/index.js';
import type { Logger } from '../../base/index.js';
import type { Lead } from '../../orders/index.js';
import type { Budgets } from '../../store/index.js';
import type { BackgroundJob } from '../run-by-one-process.js';
import { parseCron } from './cron.js';
import type { CronMatch } from './cron.js';

/** An order that is submitted on a schedule. */
export interface Schedule {
  /** Five fields, UTC. */
  readonly cron: string;
  /** The order to submit: a work request without `request_id`. */
  readonly request: Readonly<Record<string, unknown>>;
}

/** Options for firing schedules. */
export interface ScheduleOptions {
  readonly schedules: Readonly<Record<string, Schedule>>;
  readonly lead: Pick<Lead, 'submit'>;
  readonly store: Pick<Budgets, 'recordRequest'> & { now(): number };
  readonly logger: Logger;
}

const MINUTE_MS = 60_000;
/**
 * A missed tick (a minute when a schedule is due) is fired at most this late; of multiple missed ticks, only the last.
 */
const MAX_LATE_MS = 10 * MINUTE_MS;
const EVERY_MS = 15_000;

/**
 * Creates the job that submits orders on their schedules. Each tick has its own request id, so it creates only one
 * order, even if multiple processes fire it. Throws `INVALID_SCHEDULE` for an invalid expression.
 */
export function createScheduleJob(options: ScheduleOptions): BackgroundJob {
  const schedules = Object.entries(options.schedules).map(([name, schedule]) => ({
    name,
    schedule,
    isDue: parseCron(schedule.cron),
  }));
  const fired = new Map<string, number>();
  return {
    name: 'schedules',
    everyMs: EVERY_MS,
    async work() {
      const now = options.store.now();
      for (const { name, schedule, isDue } of schedules) {
        const tick = findTick(isDue, now);
        if (tick === undefined || fired.get(name) === tick) continue;
        await fire(options, { name, schedule, tick });
        fired.set(name, tick);
      }
    },
  };
}

/** Finds the last minute that was due, if it is recent enough. */
export function findTick(isDue: CronMatch, now: number): number | undefined {
  const minute = now - (now % MINUTE_MS);
  for (let tick = minute; tick > now - MAX_LATE_MS; tick -= MINUTE_MS) if (isDue(tick)) return tick;
  return undefined;
}

async function fire(
  { lead, store, logger }: ScheduleOptions,
  { name, schedule, tick }: { readonly name: string; readonly schedule: Schedule; readonly tick: number },
): Promise<void> {
  const at = new Date(tick).toISOString();
  const caller = `schedule:${name}`;
  try {
    const { record, repeated } = await lead.submit(
      { ...schedule.request, request_id: `${caller}:${at}` },
      { beforeQueued: async (run) => store.recordRequest({ ...run, caller, now: store.now() }) },
    );
    const { issue_ref, run_id } = record.order;
    if (!repeated) logger.info('schedule fired', { schedule: name, at, issue_ref, run_id });
  } catch (error) {
    // Another process has a different version of this schedule and has already submitted the order for this tick.
    if (isSluiceError(error) && error.code === 'REQUEST_ID_REUSED') return;
    // A failing schedule does not stop the others; an unavailable store is retried.
    if (isSluiceError(error) && error.code.startsWith('STORE_')) throw error;
    logger.error('schedule failed', { schedule: name, at, error: String(error) });
  }
}
