import { describe, expect, it, vi } from 'vitest';
import { MAX_EXPIRED } from '../queue-rules.js';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import {
  sampleClaim,
  sampleHold,
  sampleItem,
  NOW,
  sampleSettlement,
  sampleSubmission,
  sampleWorker,
} from './fixtures/order-samples.js';
import { UNTRUSTED_TEXT, createRunResult, sampleSpec } from './fixtures/run-samples.js';

const QUEUED = { state: 'queued', now: NOW } as const;
const HOLD = { id: 'r1', workerId: 'w1', now: NOW } as const;
const LOST = { held: false, cancel: false, reply: null };

/** A spec with its own working folder. */
function sampleSpecIn(folder: string): ReturnType<typeof sampleSpec> {
  return sampleSpec({ workdir: folder });
}

/** The contract of claims: runs are claimed, renewed, released and ended, with or without an order. */
export function describeClaims(makeSite: MakeSite): void {
  describe('claiming runs', () => {
    it('claims the oldest run first, each by one worker', async () => {
      const store = await openSite(await makeSite());
      for (const id of ['r1', 'r2']) await store.createRun({ id, spec: sampleSpecIn(`/${id}`), ...QUEUED });
      expect((await store.claimRun(sampleClaim('w1')))?.record).toMatchObject({
        id: 'r1',
        state: 'running',
        owner: sampleWorker('w1'),
        started_at: null,
      });
      const second = await store.claimRun(sampleClaim('w2'));
      expect(second).toMatchObject({ record: { id: 'r2', lease_until: NOW + 1000 }, order: null, unresolved: [] });
      expect(await store.claimRun(sampleClaim('w1'))).toBeUndefined();
    });

    it('uses one queue for orders and for other runs', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: sampleSpecIn('/a'), ...QUEUED });
      const { record } = await store.submitOrder(sampleSubmission({ repo_dir: '/b', priority: 1 }));
      await store.createRun({ id: 'r2', spec: sampleSpecIn('/c'), ...QUEUED });
      const claimed = [
        await store.claimRun(sampleClaim()),
        await store.claimRun(sampleClaim()),
        await store.claimRun(sampleClaim()),
      ];
      expect(claimed.map((each) => each?.record.id)).toEqual([record.run, 'r1', 'r2']);
      expect(claimed[0]?.order).toMatchObject({ state: 'running', order: record.order });
    });

    it('finds claimable runs behind many that cannot be claimed', async () => {
      const store = await openSite(await makeSite());
      const submit = async (issueRef: string, change: Parameters<typeof sampleSubmission>[0], workerType = 'script') =>
        (await store.submitOrder(sampleSubmission({ issue_ref: issueRef, ...change }, { workerType }))).record.run;
      const claim = async () => {
        const claimed = await store.claimRun(sampleClaim('w1', { concurrency: { full: 1 } }));
        return claimed?.record.order?.issue_ref ?? claimed?.record.id;
      };
      await submit('held#1', { repo_dir: '/held', priority: 9 });
      await submit('shared#1', { repo_dir: '/shared', priority: 9, isolation: 'worktree' });
      await submit('full#1', { repo_dir: '/full', priority: 9 }, 'full');
      expect([await claim(), await claim(), await claim()]).toEqual(['held#1', 'shared#1', 'full#1']);

      for (let number = 2; number <= 120; number += 1) {
        await submit(`held#${number}`, { repo_dir: '/held', priority: 5 });
        await submit(`shared#${number}`, { repo_dir: '/shared', priority: 5 });
        await submit(`full#${number}`, { repo_dir: `/full/${number}`, priority: 5 }, 'full');
      }
      expect(await claim()).toBeUndefined();
      await store.createRun({ id: 'low', spec: sampleSpecIn('/free'), ...QUEUED });
      await submit('urgent#1', { repo_dir: '/other', priority: 1 });
      await submit('shared#other', { repo_dir: '/shared', priority: 2, isolation: 'worktree' });
      const canceled = await submit('held#canceled', { repo_dir: '/held', priority: 3 });
      await store.requestCancel(canceled, NOW);
      const order = [await claim(), await claim(), await claim(), await claim(), await claim()];
      expect(order).toEqual(['held#canceled', 'shared#other', 'urgent#1', 'low', undefined]);
    });

    it('can be limited to orders, or to runs without an order', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: sampleSpecIn('/a'), ...QUEUED });
      const { record } = await store.submitOrder(sampleSubmission({ repo_dir: '/b' }));
      expect((await store.claimRun(sampleClaim('w1', { kinds: ['orders'] })))?.record.id).toBe(record.run);
      expect(await store.claimRun(sampleClaim('w1', { kinds: ['orders'] }))).toBeUndefined();
      expect((await store.claimRun(sampleClaim('w1', { kinds: ['runs'], workerTypes: ['none'] })))?.record.id).toBe(
        'r1',
      );
    });

    it('skips a run whose folder is in use, names the holder, and claims it when the folder is free', async () => {
      const store = await openSite(await makeSite());
      for (const id of ['r1', 'r2']) await store.createRun({ id, spec: sampleSpecIn('/shared'), ...QUEUED });
      await store.createRun({ id: 'r3', spec: sampleSpecIn('/idle'), ...QUEUED });
      expect((await store.claimRun(sampleClaim('w1')))?.record.id).toBe('r1');
      expect((await store.claimRun(sampleClaim('w2')))?.record.id).toBe('r3');
      expect(await store.claimRun(sampleClaim('w3'))).toBeUndefined();
      const waiting = { state: 'queued', waiting_for: { reason: 'folder', run: 'r1' } };
      expect(await store.findRun('r2')).toMatchObject(waiting);
      expect((await store.listRuns({ state: 'queued' })).items).toMatchObject([waiting]);
      expect((await store.listRuns({ search: 'shared', state: 'queued' })).items).toMatchObject([waiting]);
      await store.markStarted(HOLD);
      const { started_at } = (await store.findRun('r1')) ?? {};
      expect((await store.findRun('r2'))?.waiting_for).toEqual({ reason: 'folder', run: 'r1', started_at });
      const woken = vi.fn<() => void>();
      const stop = store.watchQueue(woken);
      await store.endRun({ ...HOLD, result: createRunResult() });
      await vi.waitFor(() => expect(woken).toHaveBeenCalled(), { timeout: 15_000 });
      stop();
      expect((await store.claimRun(sampleClaim('w3')))?.record).toMatchObject({ id: 'r2', waiting_for: null });
    });

    it("keeps a run out of an order's repository, and an order out of a run's folder", async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission({ repo_dir: '/repository' }));
      await store.createRun({ id: 'r1', spec: sampleSpecIn('/repository/'), ...QUEUED });
      await store.claimRun(sampleClaim('w1'));
      expect(await store.claimRun(sampleClaim('w2'))).toBeUndefined();
      expect((await store.findRun('r1'))?.waiting_for).toEqual({ reason: 'folder', run: record.run });
      await store.settleOrder(sampleSettlement(record));
      expect((await store.claimRun(sampleClaim('w2')))?.record.id).toBe('r1');
      const { record: next } = await store.submitOrder(
        sampleSubmission({ repo_dir: '/repository', isolation: 'worktree' }),
      );
      expect(await store.claimRun(sampleClaim('w3'))).toBeUndefined();
      expect((await store.findRun(next.run))?.waiting_for).toEqual({ reason: 'folder', run: 'r1' });
    });
  });

  describe('starting and renewing', () => {
    it('records the start commit of an order only once, and passes it to a retry', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      expect(record.base_commit).toBeNull();
      const { issue_ref: issueRef, run_id: runId } = record.order;
      await store.claimRun(sampleClaim());
      for (const baseCommit of ['aaaa', 'bbbb']) await store.markStarted({ ...sampleHold(record), baseCommit });
      expect((await store.findOrder(issueRef, runId))?.base_commit).toBe('aaaa');
      const retry = await store.submitOrder({
        ...sampleSubmission(),
        run: '01KA3RETRYRETRYRETRYRETRYR',
        baseCommit: 'aaaa',
      });
      await store.settleOrder(sampleSettlement(record));
      await store.claimRun(sampleClaim());
      await store.markStarted({ ...sampleHold(retry.record), baseCommit: 'cccc' });
      expect((await store.findOrder(issueRef, retry.record.order.run_id))?.base_commit).toBe('aaaa');
    });

    it('allows orders with a worktree by default to share a repository', async () => {
      const store = await openSite(await makeSite());
      for (const [number, run] of ['01KA3SHAREONE', '01KA3SHARETWO'].entries()) {
        await store.submitOrder({
          ...sampleSubmission({ issue_ref: `acme/shop#${number + 1}` }),
          run,
          isolation: 'worktree',
        });
      }
      expect((await store.claimRun(sampleClaim()))?.record.id).toBe('01KA3SHAREONE');
      expect((await store.claimRun(sampleClaim()))?.record.id).toBe('01KA3SHARETWO');
    });

    it('records when the process might have started, and the spec that is executed, without repeating the instructions', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      await store.claimRun(sampleClaim());
      const spec = { engine: 'codex', workdir: '/repositories/one' };
      const prompt = `Execute one work order. ${record.order.instructions}`;
      expect(await store.markStarted({ ...sampleHold(record), spec: { ...spec, prompt } })).toBe('started');
      expect(await store.markStarted({ ...sampleHold(record, 'w1', NOW + 50) })).toBe('started');
      const started = await store.findRun(record.run);
      expect(started?.started_at).toBe('2026-11-15T06:00:00.000Z');
      expect(started?.spec).toEqual(spec);
      expect(await store.findOrder('local#1', record.order.run_id)).toMatchObject({
        state: 'running',
        started_at: '2026-11-15T06:00:00.000Z',
      });
    });

    it('is rejected unless the worker holds the claim', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      const renewal = { ...sampleHold(record), leaseMs: 1000 };
      expect(await store.renewRun(renewal)).toEqual(LOST);
      expect(await store.markStarted(sampleHold(record))).toBe('lost');
      await store.claimRun(sampleClaim('w2'));
      expect(await store.renewRun(renewal)).toEqual(LOST);
      expect(await store.markStarted(sampleHold(record))).toBe('lost');
      expect(await store.setWaiting(sampleHold(record))).toBe(false);
      expect(await store.renewRun({ ...renewal, workerId: 'w2', now: NOW + 500 })).toMatchObject({ held: true });
      expect(await store.findRun(record.run)).toMatchObject({ state: 'running', lease_until: NOW + 1500 });
      await store.settleOrder(sampleSettlement(record));
      expect(await store.renewRun({ ...renewal, workerId: 'w2' })).toEqual(LOST);
    });

    it('reports that the run was replaced, and occupies the repository until it has ended', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      await store.claimRun(sampleClaim());
      await store.markStarted(sampleHold(record));
      await store.submitOrder(sampleSubmission());
      expect(await store.renewRun({ ...sampleHold(record), leaseMs: 2000 })).toMatchObject({
        held: true,
        cancel: true,
      });
      expect(await store.claimRun(sampleClaim('w2'))).toBeUndefined();
      await store.settleOrder(sampleSettlement(record));
      expect((await store.claimRun(sampleClaim('w2')))?.record.order?.run_id).toBe('2026-11-15-backend-0002');
    });

    it('does not start a run that was canceled after it was claimed', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      await store.claimRun(sampleClaim());
      await store.submitOrder(sampleSubmission());
      expect(await store.markStarted(sampleHold(record))).toBe('canceled');
      expect(await store.findRun(record.run)).toMatchObject({ state: 'running', started_at: null });
    });
  });

  describe('ending', () => {
    it('happens once, by the worker that holds the claim', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: sampleSpec(), ...QUEUED });
      await store.claimRun(sampleClaim());
      const result = createRunResult({ value: { text: UNTRUSTED_TEXT } });
      expect(await store.endRun({ ...HOLD, workerId: 'w2', result })).toBe(false);
      expect(await store.endRun({ ...HOLD, result, now: NOW + 5 })).toBe(true);
      expect(await store.endRun({ ...HOLD, result, now: NOW + 9 })).toBe(false);
      expect(await store.renewRun({ ...HOLD, leaseMs: 1000 })).toEqual(LOST);
      expect(await store.findRun('r1')).toMatchObject({
        state: 'ended',
        result,
        ended_at: '2026-11-15T06:00:00.005Z',
        lease_until: null,
      });
    });

    it('happens by settling the order, for a run that executes an order', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      await store.claimRun(sampleClaim());
      expect(await store.endRun({ ...sampleHold(record), result: createRunResult() })).toBe(false);
      const settlement = sampleSettlement(record);
      await store.settleOrder(settlement);
      expect(await store.findRun(record.run)).toMatchObject({ state: 'ended', result: settlement.runResult });
      expect(await store.listRuns({ outcome: 'success', search: 'local#1' })).toMatchObject({ items: [{}] });
    });

    it('happens for a stale run too, with its result', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      await store.claimRun(sampleClaim());
      await store.submitOrder(sampleSubmission());
      await store.settleOrder(sampleSettlement(record));
      expect(await store.findRun(record.run)).toMatchObject({ state: 'ended', result: { status: 'success' } });
    });
  });

  describe('requests to a run', () => {
    it('pass a cancellation to its worker', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: sampleSpec(), ...QUEUED });
      await store.claimRun(sampleClaim());
      expect(await store.requestCancel('r1', NOW)).toMatchObject({ cancel_requested: true, state: 'running' });
      const renewed = await store.renewRun({ ...HOLD, leaseMs: 1000, now: NOW + 50 });
      expect(renewed).toEqual({ held: true, cancel: true, reply: null });
      expect(await store.findRun('r1')).toMatchObject({ lease_until: NOW + 1050 });
      expect(await store.requestCancel('none', NOW)).toBeUndefined();
    });

    it('wake its worker, and no other', async () => {
      const store = await openSite(await makeSite());
      for (const id of ['r1', 'r2']) await store.createRun({ id, spec: sampleSpecIn(`/${id}`), ...QUEUED });
      for (const id of ['w1', 'w2']) await store.claimRun(sampleClaim(id));
      await store.setWaiting(HOLD);
      const [first, second] = [vi.fn<() => void>(), vi.fn<() => void>()];
      const stops = [store.watchRequests('r1', first), store.watchRequests('r2', second)];
      // A store may call back once without a reason when watching starts.
      await vi.waitFor(async () => expect(await store.findRun('r1')).toBeDefined(), { timeout: 15_000 });
      await store.postReply('r1', 'yes');
      await vi.waitFor(() => expect(first).toHaveBeenCalled(), { timeout: 15_000 });
      await store.requestCancel('r2', NOW);
      await vi.waitFor(() => expect(second).toHaveBeenCalled(), { timeout: 15_000 });
      for (const stop of stops) stop();
    });

    it('end a queued run immediately when it is canceled', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: sampleSpec(), ...QUEUED });
      expect(await store.requestCancel('r1', NOW)).toMatchObject({
        state: 'ended',
        cancel_requested: true,
        ended_at: '2026-11-15T06:00:00.000Z',
        result: { status: 'canceled', attempts: 0 },
      });
      expect(await store.claimRun(sampleClaim())).toBeUndefined();
    });

    it('leave a canceled order in the queue, to be claimed and settled even if its folder is in use', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: sampleSpecIn('/repositories/one'), ...QUEUED });
      await store.claimRun(sampleClaim());
      const { record } = await store.submitOrder(sampleSubmission());
      expect(await store.requestCancel(record.run, NOW)).toMatchObject({ state: 'queued', cancel_requested: true });
      expect((await store.claimRun(sampleClaim('w2')))?.record.id).toBe(record.run);
      expect(await store.markStarted(sampleHold(record, 'w2'))).toBe('canceled');
    });

    it('do not change a run that has ended', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: sampleSpec(), ...QUEUED });
      await store.claimRun(sampleClaim());
      await store.endRun({ ...HOLD, result: createRunResult() });
      expect(await store.requestCancel('r1', NOW)).toMatchObject({
        cancel_requested: false,
        result: createRunResult(),
      });
    });

    it('accept one reply per question', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: sampleSpec(), ...QUEUED });
      await store.claimRun(sampleClaim());
      const renewal = { ...HOLD, leaseMs: 1000 };
      expect(await store.postReply('none', 'yes')).toBe('not_found');
      expect(await store.postReply('r1', 'yes')).toBe('not_waiting');
      expect(await store.setWaiting(HOLD)).toBe(true);
      expect(await store.findRun('r1')).toMatchObject({ state: 'waiting' });
      expect(await store.setWaiting({ ...HOLD, isWaiting: false })).toBe(true);
      expect(await store.findRun('r1')).toMatchObject({ state: 'running' });
      expect(await store.postReply('r1', 'late')).toBe('not_waiting');
      expect(await store.setWaiting(HOLD)).toBe(true);
      expect(await store.postReply('r1', UNTRUSTED_TEXT)).toBe('posted');
      expect(await store.postReply('r1', 'no')).toBe('not_waiting');
      // Another question does not discard the answer to the first.
      expect(await store.setWaiting(HOLD)).toBe(true);
      expect((await store.renewRun({ ...renewal, workerId: 'w2' })).reply).toBeNull();
      expect((await store.renewRun(renewal)).reply).toBe(UNTRUSTED_TEXT);
      expect(await store.findRun('r1')).toMatchObject({ state: 'running' });
      expect((await store.renewRun(renewal)).reply).toBeNull();
      expect(await store.postReply('r1', 'late')).toBe('not_waiting');
    });

    it('keep answers that came too late, the newest of them', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: sampleSpec(), ...QUEUED });
      expect(await store.findRun('r1')).not.toHaveProperty('refused_answers');
      const answer = { interaction_id: 'px_1_1', option_id: 'yes', who: 'ann', why: UNTRUSTED_TEXT };
      const times = Array.from({ length: 21 }, (_, index) => new Date(NOW + index).toISOString());
      for (const at of times) await store.keepRefusedAnswer('r1', { ...answer, at });
      const kept = times.slice(1).map((at) => ({ ...answer, at }));
      expect(await store.findRun('r1')).toMatchObject({ refused_answers: kept });
      await store.keepRefusedAnswer('none', { ...answer, at: times[0] ?? '' });
    });

    it('keep a run waiting while its lease is renewed', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: sampleSpec(), ...QUEUED });
      await store.claimRun(sampleClaim());
      await store.setWaiting(HOLD);
      await store.renewRun({ ...HOLD, leaseMs: 1000 });
      expect(await store.findRun('r1')).toMatchObject({ state: 'waiting' });
    });
  });

  describe('expired claims', () => {
    it('are queued again if the process never started', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      await store.claimRun(sampleClaim('w1', { leaseMs: 1000 }));
      expect(await store.hasExpiredRuns(NOW + 999)).toBe(false);
      expect(await store.requeueExpired(NOW + 999)).toBe(0);
      expect(await store.hasExpiredRuns(NOW + 1000)).toBe(true);
      expect(await store.requeueExpired(NOW + 1000)).toBe(1);
      expect(await store.hasExpiredRuns(NOW + 1000)).toBe(false);
      expect(await store.findOrder('local#1', record.order.run_id)).toEqual(record);
      expect(await store.markStarted(sampleHold(record))).toBe('lost');
      expect((await store.claimRun(sampleClaim('w2')))?.record.id).toBe(record.run);
    });

    it('are listed if the process had started, running or waiting, until the run has ended', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      await store.createRun({ id: 'r1', spec: sampleSpec(), ...QUEUED });
      await store.claimRun(sampleClaim());
      await store.claimRun(sampleClaim());
      await store.markStarted(sampleHold(record));
      await store.markStarted(HOLD);
      await store.setWaiting(HOLD);
      expect(await store.requeueExpired(NOW + 1000)).toBe(0);
      expect([await store.hasExpiredRuns(NOW + 999), await store.hasExpiredRuns(NOW + 1000)]).toEqual([false, true]);
      expect(await store.listExpiredRuns(NOW + 999)).toEqual([]);
      const expired = [
        { id: record.run, state: 'running', owner: sampleWorker('w1') },
        { id: 'r1', state: 'waiting' },
      ];
      expect(await store.listExpiredRuns(NOW + 1000)).toMatchObject(expired);
      expect(await store.listExpiredRuns(NOW + 1000)).toMatchObject(expired);
      const { host } = sampleWorker('w1');
      expect(await store.listExpiredRuns(NOW + 1000, { host })).toMatchObject(expired);
      expect(await store.listExpiredRuns(NOW + 1000, { host: 'another' })).toEqual([]);
      expect(await store.hasExpiredRuns(NOW + 1000, host)).toBe(true);
      expect(await store.hasExpiredRuns(NOW + 1000, 'another')).toBe(false);
      await store.settleOrder(sampleSettlement(record, 'needs-human', { item: sampleItem(record) }));
      await store.endRun({ ...HOLD, result: createRunResult() });
      expect(await store.listExpiredRuns(NOW + 1000)).toEqual([]);
    });

    it('can be adopted once, by a process that names the previous worker; state and reply are kept', async () => {
      const store = await openSite(await makeSite());
      await store.createRun({ id: 'r1', spec: sampleSpecIn('/1'), ...QUEUED });
      await store.claimRun(sampleClaim());
      const adopt = async (from: string, now: number) =>
        store.adoptRun({ id: 'r1', from, worker: sampleWorker('w2'), leaseMs: 1000, now });
      expect(await adopt('w1', NOW + 9000)).toBeUndefined();
      await store.markStarted(HOLD);
      await store.setWaiting(HOLD);
      await store.postReply('r1', 'yes');
      expect(await adopt('w1', NOW + 999)).toBeUndefined();
      expect(await adopt('w3', NOW + 1000)).toBeUndefined();
      expect(await adopt('w1', NOW + 1000)).toMatchObject({
        id: 'r1',
        state: 'waiting',
        owner: sampleWorker('w2'),
        lease_until: NOW + 2000,
      });
      expect(await adopt('w1', NOW + 9000)).toBeUndefined();
      expect(await store.renewRun({ ...HOLD, leaseMs: 1000 })).toMatchObject({ held: false });
      expect(await store.renewRun({ ...HOLD, workerId: 'w2', leaseMs: 1000 })).toMatchObject({
        held: true,
        reply: 'yes',
      });
      await store.endRun({ ...HOLD, workerId: 'w2', result: createRunResult() });
      expect(await adopt('w2', NOW + 9000)).toBeUndefined();
    });

    it('are listed in bounded batches, oldest first', async () => {
      const store = await openSite(await makeSite());
      for (let index = 0; index < MAX_EXPIRED + 1; index++) {
        await store.createRun({ id: `r${index}`, spec: sampleSpecIn(`/${index}`), ...QUEUED });
        await store.claimRun(sampleClaim());
        await store.markStarted({ ...HOLD, id: `r${index}` });
      }
      const expired = await store.listExpiredRuns(NOW + 9000);
      expect(expired).toHaveLength(MAX_EXPIRED);
      expect(expired[0]?.id).toBe('r0');
      const remaining = await store.listExpiredRuns(NOW + 9000, { after: expired.at(-1)?.id });
      expect(remaining.map(({ id }) => id)).toEqual([`r${MAX_EXPIRED}`]);
    });
  });

  describe('the state of a repository before a run', () => {
    it('is stored from the start of the run to its end', async () => {
      const store = await openSite(await makeSite());
      for (const id of ['r1', 'r2']) {
        await store.createRun({ id, spec: sampleSpecIn(`/${id}`), ...QUEUED });
        await store.claimRun(sampleClaim());
        await store.markStarted({ ...HOLD, id, repositoryStart: `start of ${id}` });
        expect(await store.findRepositoryStart(id)).toBe(`start of ${id}`);
      }
      await store.endRun({ ...HOLD, id: 'r1', result: createRunResult() });
      await store.createRun({ id: 'r3', spec: sampleSpecIn('/r3'), ...QUEUED });
      await store.claimRun(sampleClaim());
      expect(await store.markStarted({ ...HOLD, id: 'r3', workerId: 'other', repositoryStart: 'x' })).toBe('lost');
      await store.markStarted({ ...HOLD, id: 'r3', repositoryStart: 'start of r3' });
      expect(await store.findRepositoryStart('r1')).toBeUndefined();
      expect(await store.findRepositoryStart('r2')).toBe('start of r2');
      expect(await store.findRepositoryStart('unknown')).toBeUndefined();
    });
  });
}
