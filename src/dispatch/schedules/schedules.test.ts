import { describe, expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { silentLogger } from '../../base/index.js';
import { createLead } from '../../orders/lead/create-lead.js';
import { openStore } from '../../store/open-store.js';
import { parseCron } from './cron.js';
import { createScheduleJob, findTick } from './fire-schedules.js';

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
    expect(parseCron(expression)(at(`${time}:30`))).toBe(isDue);
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
  const isDue = parseCron('0 3 * * *');
  expect(findTick(isDue, at('2026-11-16T03:00:00'))).toBe(at('2026-11-16T03:00:00'));
  expect(findTick(isDue, at('2026-11-16T03:09:59'))).toBe(at('2026-11-16T03:00:00'));
  expect(findTick(isDue, at('2026-11-16T03:10:00'))).toBeUndefined();
});

describe('schedules', () => {
  async function openSite() {
    const data = await makeFolder({ 'repository/x': 'x' });
    const store = await openStore('memory:');
    onTestFinished(async () => store.close());
    const lead = createLead({ store, data });
    const clock = { now: at('2026-11-16T03:00:10') };
    const timedStore = {
      recordRequest: async (request: Parameters<typeof store.recordRequest>[0]) => store.recordRequest(request),
      now: () => clock.now,
    };
    const request = { issue_ref: 'local#1', role: 'qa', repo_dir: `${data}/repository`, worker: 'codex-cli' };
    const nightly = { cron: '0 3 * * *', request: { ...request, instructions: 'Look.' } };
    const fire = async (schedules: Parameters<typeof createScheduleJob>[0]['schedules'] = { nightly }) =>
      createScheduleJob({ schedules, lead, store: timedStore, logger: silentLogger }).work(
        new AbortController().signal,
      );
    const list = async () => (await store.listOrders({})).items;
    return { store, clock, fire, list, nightly };
  }

  it('fire once per tick, regardless of the number of processes', async () => {
    const { store, clock, fire, list } = await openSite();
    await Promise.all([fire(), fire(), fire()]);
    expect(await list()).toHaveLength(1);
    const [order] = await list();
    expect(await store.findRequest(order?.run ?? '')).toMatchObject({
      caller: 'schedule:nightly',
      issueRef: 'local#1',
    });
    clock.now = at('2026-11-16T04:00:00');
    await fire();
    expect(await list()).toHaveLength(1);
    clock.now = at('2026-11-17T03:00:00');
    await fire();
    expect(await list()).toHaveLength(2);
  });

  it('a failing schedule does not stop the others', async () => {
    const { fire, list, nightly } = await openSite();
    await fire({ broken: { cron: '0 3 * * *', request: { issue_ref: 'nonsense' } }, nightly });
    expect(await list()).toHaveLength(1);
  });
});
