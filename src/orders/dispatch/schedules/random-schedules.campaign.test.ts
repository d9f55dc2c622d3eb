import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { report } from '../../../../test/report.js';
import { makeFolder } from '../../../../test/temporary-folder.js';
import { silentLogger } from '../../../base/index.js';
import { openStore } from '../../../store/open-store.js';
import { createLead } from '../../lead/create-lead.js';
import { createScheduleJob, type Schedule } from './fire-schedules.js';

/** The number of random histories; `npm run torture` sets a higher number. */
const HISTORIES = Number(process.env['SCHEDULE_HISTORIES'] ?? 15);
const MINUTE_MS = 60_000;
/** After a restart, a missed tick is caught up for this time. */
const LATE_MS = 10 * MINUTE_MS;
const START = Date.parse('2026-11-16T03:00:30Z');

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait'), minutes: fc.integer({ min: 1, max: 7 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('jump'), minutes: fc.integer({ min: -90, max: 600 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('restart', 'second process', 'pause', 'resume') }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('fail', 'decide', 'order') }) },
);
const overlap = fc.constantFrom('skip', 'queue', 'replace');

describe('schedules with any history of clocks, restarts, failures, pauses and decisions', { timeout: 600_000 }, () => {
  it('settle no undecided item, run once per tick, and catch up only what was missed a moment ago', async () => {
    let ticks = 0;
    await fc.assert(
      fc.asyncProperty(overlap, fc.array(step, { minLength: 30, maxLength: 60 }), async (overlaps, steps) => {
        const data = await makeFolder({ 'repository/x': 'x' });
        const store = await openStore('memory:');
        const clock = { now: START };
        const lead = createLead({ store, data, clock: () => clock.now });
        const timed = Object.assign(Object.create(store) as typeof store, { now: () => clock.now });
        const request = {
          issue_ref: 'local#1',
          role: 'qa',
          repo_dir: `${data}/repository`,
          worker: 'codex-cli',
          instructions: 'Look.',
        };
        const schedules: Record<string, Schedule> = { nightly: { cron: '*/5 * * * *', request, overlap: overlaps } };
        const start = () => createScheduleJob({ schedules, lead, store: timed, logger: silentLogger });
        let jobs = [start()];
        let earliest = START;
        const decided = new Set<string>();
        const { signal } = new AbortController();
        for (const each of steps) {
          const before = (await store.listInbox({ open: true })).items.map(({ id }) => id);
          const open = (await store.listOrders({ open: true })).items;
          let isByPerson = false;
          if ('minutes' in each) clock.now += each.minutes * MINUTE_MS;
          else if (each.do === 'restart') jobs = [start()];
          else if (each.do === 'second process') jobs.push(start());
          else if (each.do === 'pause') {
            await store.pauseSchedule({
              schedule: 'nightly',
              who: 'a',
              why: 'b',
              at: new Date(clock.now).toISOString(),
            });
          } else if (each.do === 'resume') await store.resumeSchedule('nightly');
          else if (each.do === 'fail' && open[0] !== undefined) {
            await lead.settle({ issueRef: 'local#1', runId: open[0].order.run_id, exitCode: 1 });
          } else if (each.do === 'decide' && before[0] !== undefined) {
            decided.add(before[0]);
            await lead.resolve({ id: before[0], action: 'reject', who: 'Ada', why: 'No.' });
          } else if (each.do === 'order') {
            isByPerson = true;
            await lead.submit(request, { by: 'Ada' });
          }
          earliest = Math.min(earliest, clock.now);
          const running = (await store.listOrders({ open: true })).items.map(({ run }) => run);
          await Promise.all(jobs.map(async (job) => job.work(signal)));
          await Promise.all(jobs.map(async (job) => job.work(signal)));
          const inbox = (await store.listInbox({})).items;
          const undecided = inbox.filter(({ id }) => before.includes(id) && !isByPerson && !decided.has(id));
          expect(undecided.filter(({ resolution }) => resolution !== null)).toEqual([]);
          const now = (await store.listOrders({ open: true })).items.map(({ run }) => run);
          expect(now.length).toBeLessThanOrEqual(1);
          const mayReplace = overlaps === 'replace';
          expect(running.filter((run) => !mayReplace && !now.includes(run))).toEqual([]);
        }
        const orders = (await store.listOrders({ limit: 100 })).items;
        const ids = orders.flatMap(({ order }) => order.request_id ?? []);
        expect(new Set(ids).size).toBe(ids.length);
        const times = ids.map((id) => Date.parse(id.replace('schedule:nightly:', '')));
        expect(Math.min(earliest, ...times)).toBeGreaterThan(earliest - LATE_MS);
        ticks += ids.length;
        await store.close();
      }),
      { numRuns: HISTORIES },
    );
    report(`schedules: ${HISTORIES} random histories, ${ticks} ticks that submitted an order`);
    expect(ticks).toBeGreaterThan(0);
  });
});
