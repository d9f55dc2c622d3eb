import { describe, expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../../../../test/temporary-folder.js';
import { silentLogger } from '../../../base/index.js';
import { createLead } from '../../lead/create-lead.js';
import { openStore } from '../../../store/open-store.js';
import { createScheduleJob, findNextTick, findTick, listSchedules, parseCron, runSchedule } from './fire-schedules.js';

const at = (text: string): number => Date.parse(`${text}Z`);

describe('a cron expression', () => {
  it.each([
    ['0 3 * * 1-5', '2026-11-16T03:00', true],
    ['0 3 * * 1-5', '2026-11-15T03:00', false],
    ['*/15 * * * *', '2026-11-16T03:45', true],
    ['*/15 * * * *', '2026-11-16T03:46', false],
    ['5/20 8-18/2 * * *', '2026-11-16T10:25', true],
    ['5/20 8-18/2 * * *', '2026-11-16T11:25', false],
    ['0 0 29 2 *', '2028-02-29T00:00', true],
    ['0 0 1 * 0', '2026-11-15T00:00', true],
    ['0 0 1 * 7', '2026-11-15T00:00', true],
    ['0 0 1 * 0', '2026-11-16T00:00', false],
    ['1,2 * * * *', '2026-11-16T00:02', true],
  ])('%s is due at %s: %s', (expression, time, isDue) => {
    expect(parseCron(expression).isDue(at(`${time}:30`))).toBe(isDue);
  });

  it.each(['', '* * * *', '60 * * * *', 'a * * * *', '* * * * * *', '@daily', '1-2-3 * * * *'])(
    'refuses %j',
    (expression) => {
      expect(() => parseCron(expression)).toThrow(expect.objectContaining({ code: 'INVALID_SCHEDULE' }));
    },
  );

  it.each([
    ['5-61 * * * *', 'the minute "5-61" is not between 0 and 59'],
    ['5-1 * * * *', 'the range "5-1" of the minute ends before it starts'],
    ['*/0 * * * *', 'the step of the minute "*/0" must be at least 1'],
  ])('reports what is wrong with %j', (expression, why) => {
    const message = `Invalid cron expression "${expression}": ${why}. Correct the setting "schedules".`;
    expect(() => parseCron(expression)).toThrow(expect.objectContaining({ code: 'INVALID_SCHEDULE', message }));
  });
});

it('a missed tick is fired within ten minutes, but not later', () => {
  const cron = parseCron('0 3 * * *');
  expect(findTick(cron, at('2026-11-16T03:00:00'))).toBe(at('2026-11-16T03:00:00'));
  expect(findTick(cron, at('2026-11-16T03:09:59'))).toBe(at('2026-11-16T03:00:00'));
  expect(findTick(cron, at('2026-11-16T03:10:00'))).toBeUndefined();
});

it.each([
  ['*/15 * * * *', '2026-11-16T03:45:30', '2026-11-16T04:00:00'],
  ['0 3 * * 1-5', '2026-11-13T03:00:00', '2026-11-16T03:00:00'],
  ['30 23 31 12 *', '2026-12-31T23:30:00', '2027-12-31T23:30:00'],
  ['0 0 29 2 *', '2096-03-01T00:00:00', '2104-02-29T00:00:00'],
])('%s is due after %s at %s', (cron, now, next) => {
  expect(findNextTick(cron, at(now))).toBe(at(next));
});

it('a date that does not exist is never due', () => {
  expect(findNextTick('0 0 31 2 *', at('2026-11-16T00:00:00'))).toBeUndefined();
});

describe('schedules', () => {
  /** Opens a store and a job that exists since 02:59, with the clock at the tick of 03:00. */
  async function openSite(overlap?: 'skip' | 'queue' | 'replace') {
    const data = await makeFolder({ 'repository/x': 'x' });
    const store = await openStore('memory:');
    onTestFinished(async () => store.close());
    const clock = { now: at('2026-11-16T02:59:00') };
    const lead = createLead({ store, data, clock: () => clock.now });
    const timedStore = Object.assign(Object.create(store) as typeof store, { now: () => clock.now });
    const request = { issue_ref: 'local#1', role: 'qa', repo_dir: `${data}/repository`, worker: 'codex-cli' };
    const nightly = {
      cron: '*/10 * * * *',
      request: { ...request, instructions: 'Look.' },
      ...(overlap === undefined ? {} : { overlap }),
    };
    const logged: Readonly<Record<string, unknown>>[] = [];
    const logger = {
      ...silentLogger,
      info: (_: string, fields: Readonly<Record<string, unknown>> = {}) => void logged.push(fields),
    };
    const start = (schedules: Parameters<typeof createScheduleJob>[0]['schedules'] = { nightly }) => {
      const job = createScheduleJob({ schedules, lead, store: timedStore, logger });
      return async () => job.work(new AbortController().signal);
    };
    const job = start();
    const fireAt = async (time: string, fire = job) => {
      clock.now = at(`2026-11-16T${time}`);
      await fire();
    };
    const list = async () => (await store.listOrders({})).items;
    const inbox = async () => (await store.listInbox({})).items;
    /** Ends the newest run without a result, which needs a human. */
    const fail = async () => {
      const [newest] = await list();
      await lead.settle({ issueRef: 'local#1', runId: newest?.order.run_id ?? '', exitCode: 1 });
    };
    const decide = async () => {
      const [item] = await inbox();
      await lead.resolve({ id: item?.id ?? '', action: 'reject', who: 'Ada', why: 'No.' });
    };
    const options = { schedules: { nightly }, lead, store: timedStore, logger };
    return { options, store, lead, clock, start, fireAt, list, inbox, fail, decide, logged, nightly };
  }

  it('fire once per tick, regardless of the number of processes', async () => {
    const { store, start, clock, list } = await openSite();
    const jobs = [start(), start(), start()];
    clock.now = at('2026-11-16T03:00:10');
    await Promise.all(jobs.map(async (fire) => fire()));
    expect(await list()).toHaveLength(1);
    const [order] = await list();
    const caller = 'schedule:nightly';
    expect(await store.findRequest(order?.run ?? '')).toMatchObject({ caller, issueRef: 'local#1' });
    clock.now = at('2026-11-16T03:05:00');
    for (const fire of jobs) await fire();
    expect(await list()).toHaveLength(1);
  });

  it('a failing schedule does not stop the others', async () => {
    const { start, list, nightly, fireAt } = await openSite();
    const broken = { cron: '0 3 * * *', request: { issue_ref: 'nonsense' } };
    await fireAt('03:00:10', start({ broken, nightly }));
    expect(await list()).toHaveLength(1);
  });

  it.each([undefined, 'skip'] as const)(
    'do nothing while a run is under way or an item is undecided, and log why (%s)',
    async (overlap) => {
      const { fireAt, list, inbox, fail, decide, logged } = await openSite(overlap);
      await fireAt('03:00:10');
      const [first] = await list();
      await fireAt('03:10:00');
      expect(await list()).toMatchObject([{ run: first?.run, state: 'queued' }]);
      await fail();
      await fireAt('03:20:00');
      expect(await list()).toHaveLength(1);
      expect(await inbox()).toMatchObject([{ resolution: null }]);
      await decide();
      await fireAt('03:25:00');
      expect(await list()).toHaveLength(1);
      await fireAt('03:30:00');
      expect(await list()).toHaveLength(2);
      const runId = first?.order.run_id ?? '';
      expect(logged).toMatchObject([
        { at: '2026-11-16T03:00:00.000Z', action: 'submitted', why: 'it was due', run_id: runId },
        { at: '2026-11-16T03:10:00.000Z', action: 'skipped', why: `run ${runId} of the issue is under way` },
        { at: '2026-11-16T03:20:00.000Z', action: 'skipped', why: 'the issue has an undecided inbox item' },
        { at: '2026-11-16T03:30:00.000Z', action: 'submitted' },
      ]);
    },
  );

  it('queue the last tick until the issue is free', async () => {
    const { fireAt, list, inbox, fail, decide, logged } = await openSite('queue');
    await fireAt('03:00:10');
    await fireAt('03:10:00');
    await fireAt('03:20:00');
    await fail();
    await fireAt('03:21:00');
    expect(await list()).toHaveLength(1);
    expect(await inbox()).toMatchObject([{ resolution: null }]);
    await decide();
    await fireAt('03:22:00');
    await fireAt('03:23:00');
    const orders = await list();
    expect(orders.map(({ order }) => order.request_id)).toEqual([
      'schedule:nightly:2026-11-16T03:20:00.000Z',
      'schedule:nightly:2026-11-16T03:00:00.000Z',
    ]);
    expect(logged.map(({ action }) => action)).toEqual(['submitted', 'queued', 'queued', 'submitted']);
  });

  it('record each tick, and continue a queued one after a restart', async () => {
    const { store, start, fireAt, list, fail, decide, nightly } = await openSite('queue');
    await fireAt('03:00:10');
    await fireAt('03:10:00');
    await fail();
    await decide();
    // Too late for a new tick.
    await fireAt('03:45:00', start({ nightly: { ...nightly, cron: '10 3 * * *' } }));
    const [second, first] = await list();
    expect(await store.listTicks()).toMatchObject([
      { schedule: 'nightly', at: '2026-11-16T03:10:00.000Z', action: 'submitted', run_id: second?.order.run_id },
      { schedule: 'nightly', at: '2026-11-16T03:00:00.000Z', action: 'submitted', run_id: first?.order.run_id },
    ]);
  });

  it('skip their ticks while they are paused, and say who paused them and why', async () => {
    const { options, store, fireAt, list } = await openSite();
    await store.pauseSchedule({ schedule: 'nightly', who: 'Ada', why: 'Holidays.', at: '2026-11-16T02:00:00.000Z' });
    await fireAt('03:00:10');
    await fireAt('03:01:10');
    expect(await list()).toEqual([]);
    const skipped = { action: 'skipped', why: 'Ada paused the schedule: Holidays.', run_id: null };
    expect(await store.listTicks()).toMatchObject([skipped]);
    expect(await listSchedules(options)).toMatchObject([{ next_at: null, paused: { who: 'Ada' }, last: skipped }]);
    await store.resumeSchedule('nightly');
    expect(await listSchedules(options)).toMatchObject([
      { name: 'nightly', issue_ref: 'local#1', overlap: 'skip', next_at: '2026-11-16T03:10:00.000Z', paused: null },
    ]);
    await fireAt('03:10:10');
    expect(await list()).toHaveLength(1);
  });

  it('keep a queued tick while they are paused, also across a restart', async () => {
    const { store, start, fireAt, list, fail, decide } = await openSite('queue');
    await fireAt('03:00:10');
    await fireAt('03:10:00');
    await store.pauseSchedule({ schedule: 'nightly', who: 'Ada', why: 'Busy.', at: '2026-11-16T03:11:00.000Z' });
    await fail();
    await decide();
    await fireAt('03:12:00');
    await fireAt('03:20:00');
    expect(await list()).toHaveLength(1);
    await store.resumeSchedule('nightly');
    await fireAt('03:21:00', start());
    expect((await list())[0]?.order.request_id).toBe('schedule:nightly:2026-11-16T03:10:00.000Z');
  });

  it('run at once in the name of a user, but not twice at a time', async () => {
    const { options, store, clock, list, nightly } = await openSite('queue');
    clock.now = at('2026-11-16T03:04:05');
    const first = await runSchedule(options, { name: 'nightly', schedule: nightly, who: 'Ada' });
    expect(first).toMatchObject({ at: '2026-11-16T03:04:05.000Z', action: 'submitted', why: 'Ada ran it' });
    const [order] = await list();
    expect(await store.findRequest(order?.run ?? '')).toMatchObject({ caller: 'Ada' });
    clock.now += 1000;
    const second = await runSchedule(options, { name: 'nightly', schedule: nightly, who: 'Ada' });
    expect(second).toMatchObject({ action: 'skipped', why: `run ${first.run_id} of the issue is under way` });
    expect(await store.listTicks()).toEqual([second, first]);
  });

  it('find the run under way of an issue whose key has another spelling', async () => {
    const { options, start, fireAt, list, nightly } = await openSite();
    const { issue_ref: IssueRef, ...request } = nightly.request;
    const spelled = { ...nightly, request: { ...request, IssueRef } };
    const fire = start({ spelled });
    await fireAt('03:00:10', fire);
    await fireAt('03:10:00', fire);
    expect((await list()).map(({ state }) => state)).toEqual(['queued']);
    expect(await listSchedules({ ...options, schedules: { spelled } })).toMatchObject([{ issue_ref: 'local#1' }]);
  });

  it.each(['skip', 'queue', 'replace'] as const)(
    'replace an order that is submitted at the same moment only if they may (%s)',
    async (overlap) => {
      const { options, clock, lead, list, nightly } = await openSite(overlap);
      const submit: typeof lead.submit = async (...submitted) => {
        await lead.submit(nightly.request, { by: 'Ada' });
        return lead.submit(...submitted);
      };
      const job = createScheduleJob({ ...options, lead: { submit } });
      clock.now = at('2026-11-16T03:00:10');
      await job.work(new AbortController().signal);
      expect((await list()).map(({ state }) => state)).toEqual(
        overlap === 'replace' ? ['queued', 'canceled'] : ['queued'],
      );
      const action = { skip: 'skipped', queue: 'queued', replace: 'submitted' }[overlap];
      expect(await options.store.listTicks()).toMatchObject([{ action }]);
    },
  );

  it('replace a run under way, but never an undecided item', async () => {
    const { fireAt, list, inbox, fail } = await openSite('replace');
    await fireAt('03:00:10');
    await fireAt('03:10:00');
    expect((await list()).map(({ state }) => state)).toEqual(['queued', 'canceled']);
    await fail();
    await fireAt('03:20:00');
    expect(await list()).toHaveLength(2);
    expect(await inbox()).toMatchObject([{ resolution: null }]);
  });

  it('do not catch up a tick from before the schedule was first seen, only one that was missed since', async () => {
    const { start, clock, fireAt, list, fail, decide, logged } = await openSite();
    clock.now = at('2026-11-16T03:02:00');
    await fireAt('03:02:00', start());
    expect(await list()).toEqual([]);
    expect(logged).toMatchObject([{ action: 'skipped', why: 'the tick is older than the schedule' }]);
    await fireAt('03:10:00');
    await fail();
    await decide();
    clock.now = at('2026-11-16T03:22:00');
    await fireAt('03:22:00', start());
    expect((await list())[0]?.order.request_id).toBe('schedule:nightly:2026-11-16T03:20:00.000Z');
  });

  it('do not fire a tick again that another process has skipped', async () => {
    const { start, fireAt, list, fail, decide } = await openSite();
    const other = start();
    await fireAt('03:00:10');
    await fireAt('03:10:00');
    await fail();
    await decide();
    await fireAt('03:12:00', other);
    expect(await list()).toHaveLength(1);
  });

  it('an explicit order that replaces an undecided item is named in it', async () => {
    const { lead, fireAt, inbox, fail, nightly } = await openSite();
    await fireAt('03:00:10');
    await fail();
    const { order } = await lead.submit(nightly.request, { by: 'Ada' });
    expect(await inbox()).toMatchObject([
      {
        resolution: {
          action: 'superseded',
          who: 'Ada',
          new_run_id: order.run_id,
          why: `Replaced by run ${order.run_id}, submitted by Ada.`,
        },
      },
    ]);
  });
});
