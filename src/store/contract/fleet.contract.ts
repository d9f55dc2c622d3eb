import { describe, expect, it } from 'vitest';
import type { ScheduleTick } from '../records/index.js';
import type { WorkerReport } from '../sql/fleet.js';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import { NOW, sampleClaim } from './fixtures/order-samples.js';
import { UNTRUSTED_TEXT, sampleSpec } from './fixtures/run-samples.js';

const DAY_MS = 24 * 60 * 60 * 1000;

function sampleReport(id: string, changes: Partial<WorkerReport> = {}): WorkerReport {
  const worker = { id, host: 'machine-1', version: '0.1.0', engines: ['codex', 'command'], capacity: 4, busy: 1 };
  return { ...worker, isStopping: false, now: NOW, aliveUntil: NOW + 1000, ...changes };
}

/** The contract of worker reports and the worker list. */
export function describeFleet(makeSite: MakeSite): void {
  describe('the fleet', () => {
    it('lists the ticks of schedules; only a queued one changes, and of each schedule the last hundred are kept', async () => {
      const store = await openSite(await makeSite());
      const tick = (schedule: string, minute: number, action: ScheduleTick['action']) =>
        ({
          schedule,
          at: new Date(NOW + minute * 60_000).toISOString(),
          action,
          why: UNTRUSTED_TEXT,
          run_id: null,
        }) as const;
      await store.recordTick(tick('a', 0, 'queued'));
      await store.recordTick({ ...tick('a', 0, 'submitted'), run_id: 'R1' });
      await store.recordTick(tick('a', 0, 'repeated'));
      await store.recordTick(tick('b', 1, 'skipped'));
      expect(await store.listTicks()).toEqual([
        tick('b', 1, 'skipped'),
        { ...tick('a', 0, 'submitted'), run_id: 'R1' },
      ]);
      for (let minute = 2; minute <= 101; minute += 1) await store.recordTick(tick('a', minute, 'failed'));
      const kept = await store.listTicks();
      expect(kept.filter(({ schedule }) => schedule === 'a')).toHaveLength(100);
      expect(kept.at(-1)).toEqual(tick('b', 1, 'skipped'));
    });

    it('lists a queued tick, however often its schedule is skipped and others are due', async () => {
      const store = await openSite(await makeSite());
      const record = async (schedule: string, minute: number, action: ScheduleTick['action']) =>
        store.recordTick({
          schedule,
          at: new Date(NOW + minute * 60_000).toISOString(),
          action,
          why: '',
          run_id: null,
        });
      await record('rare', 0, 'queued');
      for (let minute = 1; minute <= 120; minute += 1) {
        await record('rare', minute, 'skipped');
        for (let other = 0; other < 11; other += 1) await record(`every-minute-${other}`, minute, 'submitted');
      }
      const ticks = await store.listTicks();
      expect(ticks.filter(({ schedule, action }) => schedule === 'rare' && action === 'queued')).toHaveLength(1);
      expect(ticks.filter(({ schedule }) => schedule === 'rare')).toHaveLength(101);
    });

    it('keeps the pauses of schedules, the last one of each, until they are resumed', async () => {
      const store = await openSite(await makeSite());
      const pause = (schedule: string, why: string) =>
        ({ schedule, who: UNTRUSTED_TEXT, why, at: new Date(NOW).toISOString() }) as const;
      await store.pauseSchedule(pause('b', 'Broken.'));
      await store.pauseSchedule(pause('a', 'First.'));
      await store.pauseSchedule(pause('a', UNTRUSTED_TEXT));
      expect(await store.listPauses()).toEqual([pause('a', UNTRUSTED_TEXT), pause('b', 'Broken.')]);
      await store.resumeSchedule('a');
      await store.resumeSchedule('a');
      expect(await store.listPauses()).toEqual([pause('b', 'Broken.')]);
    });

    it('lists a worker with its last report', async () => {
      const store = await openSite(await makeSite());
      expect(await store.listWorkers(NOW)).toEqual([]);
      await store.reportWorker(sampleReport('w1'));
      await store.reportWorker(sampleReport('w1', { busy: 3, now: NOW + 500, aliveUntil: NOW + 1500 }));
      expect(await store.listWorkers(NOW + 600)).toEqual([
        {
          id: 'w1',
          host: 'machine-1',
          version: '0.1.0',
          engines: ['codex', 'command'],
          capacity: 4,
          busy: 3,
          seen_at: new Date(NOW + 500).toISOString(),
          state: 'alive',
          runs: [],
        },
      ]);
    });

    it('lists the runs that a worker has claimed, also after it is gone', async () => {
      const store = await openSite(await makeSite());
      await store.reportWorker(sampleReport('w1'));
      await store.reportWorker(sampleReport('w10'));
      const claim = { spec: sampleSpec(), state: 'running', leaseMs: 1000, now: NOW } as const;
      await store.createRun({ id: 'r1', workerId: 'w1/a', ...claim });
      await store.createRun({ id: 'r2', workerId: 'w10/a', ...claim });
      const workers = await store.listWorkers(NOW + 5000);
      expect(workers.map(({ id, state, runs }) => [id, state, runs])).toEqual([
        ['w1', 'gone', ['r1']],
        ['w10', 'gone', ['r2']],
      ]);
    });

    it('lists a worker that stopped reporting as gone, and a worker that shuts down as stopping', async () => {
      const store = await openSite(await makeSite());
      await store.reportWorker(sampleReport('w1', { isStopping: true }));
      expect(await store.listWorkers(NOW + 999)).toMatchObject([{ state: 'stopping' }]);
      expect(await store.listWorkers(NOW + 1000)).toMatchObject([{ state: 'gone' }]);
    });

    it('reports to a worker whether leases on its host have expired', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: sampleSpec(), state: 'queued', now: NOW });
      const { worker, leaseMs } = sampleClaim();
      await store.claimRun(sampleClaim());
      const now = NOW + leaseMs;
      const { host } = worker;
      expect(await store.reportWorker(sampleReport('w1', { host, now: now - 1 }))).toEqual({ hasExpiredRuns: false });
      expect(await store.reportWorker(sampleReport('w1', { host, now }))).toEqual({ hasExpiredRuns: true });
      expect(await store.reportWorker(sampleReport('w2', { now }))).toEqual({ hasExpiredRuns: false });
    });

    it('removes a worker that has stopped', async () => {
      const store = await openSite(await makeSite());
      await store.reportWorker(sampleReport('w1'));
      await store.removeWorker('w1');
      await store.removeWorker('w1');
      expect(await store.listWorkers(NOW)).toEqual([]);
    });

    it('deletes a worker that has been gone for a day', async () => {
      const store = await openSite(await makeSite());
      await store.reportWorker(sampleReport('w1'));
      const later = NOW + 1000 + DAY_MS;
      expect(await store.listWorkers(later - 1)).toHaveLength(1);
      expect(await store.listWorkers(later)).toEqual([]);
      await store.reportWorker(sampleReport('w2', { now: later, aliveUntil: later + 1000 }));
      expect((await store.listWorkers(NOW)).map(({ id }) => id)).toEqual(['w2']);
    });

    it('lists the most recent report first, and leaves text unchanged', async () => {
      const store = await openSite(await makeSite());
      await store.reportWorker(sampleReport('w1', { engines: [UNTRUSTED_TEXT] }));
      await store.reportWorker(sampleReport('w2', { now: NOW + 1 }));
      await store.reportWorker(sampleReport('w3'));
      const workers = await store.listWorkers(NOW);
      expect(workers.map(({ id }) => id)).toEqual(['w2', 'w1', 'w3']);
      expect(workers[1]?.engines).toEqual([UNTRUSTED_TEXT]);
    });
  });

  it('has a clock', async () => {
    const store = await openSite(await makeSite());
    const before = store.now();
    expect(Math.abs(before - Date.now())).toBeLessThan(60_000);
    expect(store.now()).toBeGreaterThanOrEqual(before);
  });
}
