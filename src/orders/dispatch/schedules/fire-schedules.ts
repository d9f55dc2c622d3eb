import { getErrorCode, getErrorMessage } from '../../../base/index.js';
import type { Logger } from '../../../base/index.js';
import type { Lead } from '../../lead/create-lead.js';
import type { Budgets } from '../../../store/index.js';
import type { OrderStore, StoreClock } from '../../../store/ports/index.js';
import type { BackgroundJob } from '../run-by-one-process.js';
import { parseCron } from './cron.js';
import type { CronMatch } from './cron.js';

/** An order that is submitted on a schedule. */
export interface Schedule {
  /** Five fields, UTC. */
  readonly cron: string;
  /** The order to submit: a work request without `request_id`. */
  readonly request: Readonly<Record<string, unknown>>;
  /**
   * What a tick does while its issue has a run under way or an undecided inbox item. `skip` (default): nothing. `queue`:
   * submits when the issue is free; of several waiting ticks, only the last. `replace`: ends the run under way. An
   * undecided item is never replaced.
   */
  readonly overlap?: 'skip' | 'queue' | 'replace';
}

/** Options for firing schedules. */
export interface ScheduleOptions {
  readonly schedules: Readonly<Record<string, Schedule>>;
  readonly lead: Pick<Lead, 'submit'>;
  readonly store: Pick<Budgets, 'recordRequest'> & Pick<OrderStore, 'listOrders' | 'listInbox'> & StoreClock;
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
 * order, even if multiple processes fire it, and is logged with what it did and why. Throws `INVALID_SCHEDULE` for an
 * invalid expression.
 */
export function createScheduleJob(options: ScheduleOptions): BackgroundJob {
  const { store } = options;
  const seenAt = store.now();
  const schedules = Object.entries(options.schedules).map(([name, schedule]) => ({
    name,
    schedule,
    isDue: parseCron(schedule.cron),
  }));
  const handled = new Map<string, number>();
  const waiting = new Map<string, number>();
  return {
    name: 'schedules',
    everyMs: EVERY_MS,
    async work() {
      for (const { name, schedule, isDue } of schedules) {
        const due = findTick(isDue, store.now());
        const isNew = due !== undefined && due !== handled.get(name);
        const tick = isNew ? due : waiting.get(name);
        if (tick === undefined) continue;
        const fired = await fire(options, { name, schedule, tick, seenAt });
        // Repeated every few seconds while it waits, so only the first is logged.
        if (isNew || fired.action !== 'queued') log(options.logger, { name, tick }, fired);
        if (fired.action === 'queued') waiting.set(name, tick);
        else waiting.delete(name);
        if (isNew) handled.set(name, due);
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

interface Tick {
  readonly name: string;
  readonly schedule: Schedule;
  readonly tick: number;
  /** When this process first saw the schedule. */
  readonly seenAt: number;
}

/** The action of a tick, and its reason. */
interface FiredTick {
  readonly action: 'submitted' | 'repeated' | 'skipped' | 'queued' | 'failed';
  readonly why: string;
  readonly run_id?: string;
}

async function fire({ lead, store }: ScheduleOptions, { name, schedule, tick, seenAt }: Tick): Promise<FiredTick> {
  const caller = `schedule:${name}`;
  const { overlap = 'skip', request } = schedule;
  const issueRef = String(request['issue_ref']);
  try {
    const { items: orders } = await store.listOrders({ issueRef, limit: 100 });
    if (tick < seenAt && !orders.some(({ order }) => order.request_id?.startsWith(`${caller}:`) === true)) {
      return { action: 'skipped', why: 'the tick is older than the schedule' };
    }
    const isKnown = orders.some(({ order }) => order.request_id === formatRequestId(caller, tick));
    const obstacle = isKnown ? undefined : await findObstacle(store, issueRef, overlap);
    if (obstacle !== undefined) return { action: overlap === 'queue' ? 'queued' : 'skipped', why: obstacle };
    const { record, repeated } = await lead.submit(
      { ...request, request_id: formatRequestId(caller, tick) },
      {
        by: caller,
        keepsUndecided: true,
        beforeQueued: async (run) => store.recordRequest({ ...run, caller, now: store.now() }),
      },
    );
    return { action: repeated ? 'repeated' : 'submitted', why: 'it was due', run_id: record.order.run_id };
  } catch (error) {
    const code = getErrorCode(error);
    // Another process has a different version of this schedule and has already submitted the order for this tick.
    if (code === 'REQUEST_ID_REUSED') return { action: 'repeated', why: 'the tick already has an order' };
    if (code === 'ISSUE_UNDECIDED') return { action: overlap === 'queue' ? 'queued' : 'skipped', why: UNDECIDED };
    // A failing schedule does not stop the others; an unavailable store is retried.
    if (code?.startsWith('STORE_') === true) throw error;
    return { action: 'failed', why: getErrorMessage(error) };
  }
}

const UNDECIDED = 'the issue has an undecided inbox item';

/** Finds the reason not to submit an order for an issue now. */
async function findObstacle(
  store: ScheduleOptions['store'],
  issueRef: string,
  overlap: NonNullable<Schedule['overlap']>,
): Promise<string | undefined> {
  const [undecided, open] = await Promise.all([
    store.listInbox({ issueRef, open: true, limit: 1 }),
    store.listOrders({ issueRef, open: true, limit: 1 }),
  ]);
  if (undecided.items.length > 0) return UNDECIDED;
  const [running] = open.items;
  if (running === undefined || overlap === 'replace') return undefined;
  return `run ${running.order.run_id} of the issue is under way`;
}

function formatRequestId(caller: string, tick: number): string {
  return `${caller}:${new Date(tick).toISOString()}`;
}

function log(logger: Logger, { name, tick }: Pick<Tick, 'name' | 'tick'>, { action, ...fired }: FiredTick): void {
  if (action === 'repeated') return;
  const fields = { schedule: name, at: new Date(tick).toISOString(), action, ...fired };
  if (action === 'failed') logger.error('schedule failed', fields);
  else logger.info('schedule fired', fields);
}
