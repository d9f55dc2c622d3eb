import { getErrorCode, getErrorMessage, type Logger, SluiceError } from '../../../base/index.js';
import type { Lead } from '../../lead/create-lead.js';
import type { Budgets, Fleet } from '../../../store/index.js';
import type { ScheduleTick, ScheduleView } from '../../../store/records/index.js';
import type { OrderStore, StoreClock } from '../../../store/ports/index.js';
import { readSpellings } from '../../shapes/spelling.js';
import type { BackgroundJob } from '../repeat-work.js';

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

export interface ScheduleOptions {
  readonly schedules: Readonly<Record<string, Schedule>>;
  readonly lead: Pick<Lead, 'submit'>;
  readonly store: Pick<Budgets, 'recordRequest'> &
    Pick<OrderStore, 'findIssue' | 'listOrders' | 'listInbox'> &
    Pick<Fleet, 'recordTick' | 'listTicks' | 'listPauses'> &
    StoreClock;
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
 * order, even if multiple processes fire it, and is recorded and logged with what it did and why. A queued tick survives a
 * restart. While a schedule is paused, its new ticks are skipped, and a queued one waits. Throws `INVALID_SCHEDULE` for
 * an invalid expression.
 */
export function createScheduleJob(options: ScheduleOptions): BackgroundJob {
  const { store } = options;
  const seenAt = store.now();
  const schedules = Object.entries(options.schedules).map(([name, schedule]) => ({
    name,
    schedule,
    cron: parseCron(schedule.cron),
  }));
  return {
    name: 'schedules',
    everyMs: EVERY_MS,
    async work() {
      // Read again each time: another process could have fired them since.
      const ticks = await store.listTicks();
      const pauses = new Map((await store.listPauses()).map((pause) => [pause.schedule, pause]));
      for (const { name, schedule, cron } of schedules) {
        const { handled, waiting } = findLastTicks(ticks, name, store.now());
        const due = findTick(cron, store.now());
        const isNew = due !== undefined && due > handled;
        const tick = isNew ? due : waiting;
        const pause = pauses.get(name);
        if (tick === undefined || (pause !== undefined && !isNew)) continue;
        if (pause !== undefined) {
          await recordTick(
            options,
            { name, tick },
            { action: 'skipped', why: `${pause.who} paused the schedule: ${pause.why}` },
          );
          continue;
        }
        const fired = await fire(options, { name, schedule, tick, seenAt });
        // Repeated every few seconds while it waits, so only the first is logged.
        if (isNew || fired.action !== 'queued') await recordTick(options, { name, tick }, fired);
      }
    },
  };
}

/** Describes the configured schedules: when each is due next, whether it is paused, and its last tick. */
export async function listSchedules({
  schedules,
  store,
}: Pick<ScheduleOptions, 'schedules' | 'store'>): Promise<readonly ScheduleView[]> {
  const [ticks, pauses] = await Promise.all([store.listTicks(), store.listPauses()]);
  return Object.entries(schedules).map(([name, { cron, overlap = 'skip', request }]) => {
    const paused = pauses.find(({ schedule }) => schedule === name) ?? null;
    const next = paused === null ? findNextTick(cron, store.now()) : undefined;
    return {
      name,
      cron,
      overlap,
      issue_ref: readIssueRef(request),
      next_at: next === undefined ? null : new Date(next).toISOString(),
      paused,
      last: ticks.find(({ schedule }) => schedule === name) ?? null,
    };
  });
}

/**
 * Submits a schedule's order at once for a user, even while it is paused. If the issue is not free, nothing is queued.
 * Returns the recorded tick.
 */
export async function runSchedule(
  options: ScheduleOptions,
  { name, schedule, who }: { readonly name: string; readonly schedule: Schedule; readonly who: string },
): Promise<ScheduleTick> {
  const tick = options.store.now();
  const { overlap, ...others } = schedule;
  const once = overlap === 'replace' ? schedule : others;
  const { why, ...fired } = await fire(options, { name, schedule: once, tick, seenAt: tick, who });
  const reason = fired.action === 'submitted' ? `${who} ran it` : why;
  return recordTick(options, { name, tick }, { ...fired, why: reason });
}

const DAY_MS = 24 * 60 * MINUTE_MS;
/** Long enough for the 29th of February, even across a year that is not a leap year. */
const MAX_DAYS = 8 * 366 + 1;

/** Finds the next minute when an expression is due; undefined if it never is. */
export function findNextTick(cron: string, now: number): number | undefined {
  const { isDay, isMinute } = parseCron(cron);
  const first = now - (now % MINUTE_MS) + MINUTE_MS;
  for (let day = first - (first % DAY_MS), left = MAX_DAYS; left > 0; day += DAY_MS, left -= 1) {
    if (!isDay(new Date(day))) continue;
    for (let tick = Math.max(day, first); tick < day + DAY_MS; tick += MINUTE_MS)
      if (isMinute(new Date(tick))) return tick;
  }
  return undefined;
}

/** Finds the last minute that was due, if it is recent enough. */
export function findTick({ isDue }: ReturnType<typeof parseCron>, now: number): number | undefined {
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
  /** The user who runs it now; by default the schedule itself. */
  readonly who?: string;
}

/** The action of a tick, and its reason. */
type FiredTick = Pick<ScheduleTick, 'action' | 'why'> & Partial<Pick<ScheduleTick, 'run_id'>>;

/**
 * Finds when the last tick of a schedule was, and the queued one that waits. A tick that was skipped after that one,
 * because of a pause, does not end it.
 */
function findLastTicks(ticks: readonly ScheduleTick[], name: string, now: number) {
  const times = ticks.flatMap(({ schedule, at, action }) => {
    const time = Date.parse(at);
    return schedule === name && time <= now ? [{ time, action }] : [];
  });
  const last = times.find(({ action }) => action !== 'skipped');
  return { handled: times[0]?.time ?? 0, waiting: last?.action === 'queued' ? last.time : undefined };
}

async function fire({ lead, store }: ScheduleOptions, { name, schedule, tick, seenAt, who }: Tick): Promise<FiredTick> {
  const caller = `schedule:${name}`;
  const by = who ?? caller;
  const { overlap = 'skip', request } = schedule;
  const issueRef = readIssueRef(request);
  const wait = (why: string): FiredTick => ({ action: overlap === 'queue' ? 'queued' : 'skipped', why });
  try {
    // Read first: an order that is submitted after the search for obstacles has a later number.
    const lastNumber = (await store.findIssue(issueRef))?.last_run_number ?? 0;
    const { items: orders } = await store.listOrders({ issueRef, limit: 100 });
    if (tick < seenAt && !orders.some(({ order }) => order.request_id?.startsWith(`${caller}:`) === true)) {
      return { action: 'skipped', why: 'the tick is older than the schedule' };
    }
    const isKnown = orders.some(({ order }) => order.request_id === formatRequestId(caller, tick));
    const obstacle = isKnown ? undefined : await findObstacle(store, issueRef, overlap);
    if (obstacle !== undefined) return wait(obstacle);
    const { record, repeated } = await lead.submit(
      { ...request, request_id: formatRequestId(caller, tick) },
      {
        by,
        keepsUndecided: true,
        ...(overlap === 'replace' ? {} : { after: lastNumber }),
        beforeQueued: async (run) => store.recordRequest({ ...run, caller: by, now: store.now() }),
      },
    );
    return { action: repeated ? 'repeated' : 'submitted', why: 'it was due', run_id: record.order.run_id };
  } catch (error) {
    const code = getErrorCode(error);
    // Another process has a different version of this schedule and has already submitted the order for this tick.
    if (code === 'REQUEST_ID_REUSED') return { action: 'repeated', why: 'the tick already has an order' };
    if (code === 'ISSUE_UNDECIDED') return wait(UNDECIDED);
    if (code === 'CONFLICT') return wait('another order was submitted for the issue');
    // A failing schedule does not stop the others; an unavailable store is retried.
    if (code?.startsWith('STORE_') === true) throw error;
    return { action: 'failed', why: getErrorMessage(error) };
  }
}

/** Reads a request's issue, whose key can have either spelling. */
function readIssueRef(request: Schedule['request']): string {
  return String(readSpellings(Object.entries(request), ['issue_ref']).known.get('issue_ref'));
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

async function recordTick(
  { store, logger }: ScheduleOptions,
  { name, tick }: Pick<Tick, 'name' | 'tick'>,
  { action, ...fired }: FiredTick,
): Promise<ScheduleTick> {
  const fields = { schedule: name, at: new Date(tick).toISOString(), action, ...fired };
  const record = { run_id: null, ...fields };
  await store.recordTick(record);
  if (action === 'failed') logger.error('schedule failed', fields);
  else if (action !== 'repeated') logger.info('schedule fired', fields);
  return record;
}

const FIELDS = [
  { name: 'minute', first: 0, last: 59 },
  { name: 'hour', first: 0, last: 23 },
  { name: 'day of the month', first: 1, last: 31 },
  { name: 'month', first: 1, last: 12 },
  { name: 'day of the week', first: 0, last: 7 },
] as const;

/**
 * Parses a cron expression with five fields: numbers, `*`, ranges (`1-5`), steps (every 15: `0-59/15`) and lists of
 * them. Times are UTC, so no hour is skipped or repeated. As usual in cron, if both day fields are restricted, either
 * match is enough.
 */
export function parseCron(expression: string) {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== FIELDS.length)
    throw createCronError(expression, 'it must have five fields: minute hour day month weekday');
  const [minutes, hours, days, months, weekdays] = FIELDS.map((field, index) =>
    readField(fields[index] ?? '', field, expression),
  ) as [Field, Field, Field, Field, Field];
  const isMinute = (date: Date): boolean => minutes.has(date.getUTCMinutes()) && hours.has(date.getUTCHours());
  const isDay = (date: Date): boolean => {
    if (!months.has(date.getUTCMonth() + 1)) return false;
    const isDate = days.has(date.getUTCDate());
    const isWeekday = weekdays.has(date.getUTCDay()) || (date.getUTCDay() === 0 && weekdays.has(7));
    return days.isAny || weekdays.isAny ? isDate && isWeekday : isDate || isWeekday;
  };
  return { isMinute, isDay, isDue: (time: number) => isMinute(new Date(time)) && isDay(new Date(time)) };
}

interface Field {
  readonly isAny: boolean;
  has(value: number): boolean;
}

const PART = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/;

function readField(field: string, { name, first, last }: (typeof FIELDS)[number], expression: string): Field {
  const values = new Set<number>();
  for (const part of field.split(',')) {
    const match = PART.exec(part);
    if (match === null) throw createCronError(expression, `the ${name} "${part}" is invalid`);
    const [, from, to, step] = match;
    const start = from === undefined ? first : Number(from);
    // `5/15` means the same as `5-59/15`.
    const end = to === undefined ? (from === undefined || step !== undefined ? last : start) : Number(to);
    const width = step === undefined ? 1 : Number(step);
    if (start < first || end > last)
      throw createCronError(expression, `the ${name} "${part}" is not between ${first} and ${last}`);
    if (start > end) throw createCronError(expression, `the range "${part}" of the ${name} ends before it starts`);
    if (width < 1) throw createCronError(expression, `the step of the ${name} "${part}" must be at least 1`);
    for (let value = start; value <= end; value += width) values.add(value);
  }
  return { isAny: field.startsWith('*'), has: (value) => values.has(value) };
}

function createCronError(expression: string, why: string): SluiceError {
  return new SluiceError(
    'INVALID_SCHEDULE',
    `Invalid cron expression "${expression.slice(0, 100)}": ${why}. Correct the setting "schedules".`,
  );
}
