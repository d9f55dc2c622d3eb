import { describe, expect, it, onTestFinished } from 'vitest';
import { catchCode, openSite, type MakeSite } from './fixtures/open-site.js';
import {
  sampleClaim,
  sampleDecision,
  sampleItem,
  sampleMessage,
  newId,
  NOW,
  sampleResolution,
  sampleResult,
  sampleSettlement,
  sampleSubmission,
} from './fixtures/order-samples.js';
import { UNTRUSTED_TEXT } from './fixtures/run-samples.js';

/** The contract of settling orders and resolving inbox items. */
export function describeSettleAndResolve(makeSite: MakeSite): void {
  describe('settleOrder', () => {
    it("writes the active run's state, result, execution, item and message in one transaction", async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      await store.claimRun(sampleClaim());
      const settlement = sampleSettlement(record, 'needs-human', {
        result: { ...sampleResult(record), summary: UNTRUSTED_TEXT },
        item: sampleItem(record, {
          reason: UNTRUSTED_TEXT,
          reading: { source: 'json', problems: [], draft: { a: [1] } },
        }),
        outbox: [sampleMessage(record, { sink: 'a', body: UNTRUSTED_TEXT }), sampleMessage(record, { sink: 'b' })],
      });
      const { active } = settlement;
      expect(await store.settleOrder({ ...settlement, now: NOW + 7 })).toEqual({
        decision: active.decision,
        repeated: false,
      });
      expect(await store.findIssue('local#1')).toMatchObject({
        state: 'needs-human',
        updated_at: '2026-11-15T06:00:00.007Z',
      });
      expect(await store.findOrder('local#1', record.order.run_id)).toMatchObject({
        state: 'settled',
        settled_at: '2026-11-15T06:00:00.007Z',
        decision: active.decision,
        result: active.result,
      });
      expect((await store.listExecutions({})).items).toEqual([active.execution]);
      expect((await store.listInbox({})).items).toEqual([active.item]);
      expect((await store.listOutbox({})).items).toEqual(
        active.outbox.toReversed().map((message) => ({
          ...message,
          state: 'waiting',
          tries: 0,
          due_at: NOW + 7,
          lease_until: null,
          last_error: null,
          delivered_to: null,
          created_at: '2026-11-15T06:00:00.007Z',
        })),
      );
    });

    it('only archives the result of an inactive run', async () => {
      const store = await openSite(await makeSite());
      const { record: replacedRecord } = await store.submitOrder(sampleSubmission());
      await store.claimRun(sampleClaim());
      const { record: active } = await store.submitOrder(sampleSubmission());
      const issue = await store.findIssue('local#1');
      const settlement = sampleSettlement(replacedRecord, 'needs-human');
      expect(await store.settleOrder(settlement)).toEqual({ decision: sampleDecision('archive'), repeated: false });
      expect(await store.findIssue('local#1')).toEqual(issue);
      expect(await store.findOrder('local#1', replacedRecord.order.run_id)).toMatchObject({
        state: 'settled',
        decision: sampleDecision('archive'),
        result: sampleResult(replacedRecord),
      });
      expect(await store.findOrder('local#1', active.order.run_id)).toEqual(active);
      expect((await store.listExecutions({})).items).toEqual([settlement.stale.execution]);
      expect((await store.listInbox({})).items).toEqual([]);
      expect((await store.listOutbox({})).items).toEqual([]);
    });

    it('archives the result of a run that was canceled before it started', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      await store.submitOrder(sampleSubmission());
      expect((await store.settleOrder(sampleSettlement(record))).decision.action).toBe('archive');
    });

    it('returns the first decision when repeated, and writes nothing', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      await store.settleOrder(sampleSettlement(record, 'blocked'));
      const repeat = await store.settleOrder(sampleSettlement(record, 'needs-human', {}, NOW + 1000));
      expect(repeat).toEqual({ decision: sampleDecision('blocked'), repeated: true });
      expect(await store.findIssue('local#1')).toMatchObject({
        state: 'blocked',
        updated_at: '2026-11-15T06:00:00.000Z',
      });
      expect((await store.listExecutions({})).items).toHaveLength(1);
      expect((await store.listInbox({})).items).toEqual([]);
      expect((await store.listOutbox({})).items).toHaveLength(1);
    });

    it('returns the first decision when repeated after the run was replaced', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      await store.settleOrder(sampleSettlement(record, 'blocked'));
      await store.submitOrder(sampleSubmission());
      expect(await store.settleOrder(sampleSettlement(record))).toEqual({
        decision: sampleDecision('blocked'),
        repeated: true,
      });
      expect((await store.listExecutions({})).items).toHaveLength(1);
    });

    it('accepts one of several concurrent settlements', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      const settled = await Promise.all(
        Array.from({ length: 5 }, async (_, index) =>
          store.settleOrder(sampleSettlement(record, index % 2 === 0 ? 'advance' : 'blocked')),
        ),
      );
      expect(settled.filter(({ repeated }) => !repeated)).toHaveLength(1);
      expect(new Set(settled.map(({ decision }) => decision.action)).size).toBe(1);
      expect((await store.listExecutions({})).items).toHaveLength(1);
      expect((await store.listOutbox({})).items).toHaveLength(1);
    });

    it('stores one message per sink, issue and trigger', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      const messages = [sampleMessage(record, { body: 'first' }), sampleMessage(record, { body: 'second' })];
      await store.settleOrder(sampleSettlement(record, 'advance', { outbox: messages }));
      expect((await store.listOutbox({})).items.map(({ body }) => body)).toEqual(['first']);
    });

    it('wakes the watchers of the run', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      let isWoken = false;
      onTestFinished(
        store.watch(record.run, () => {
          isWoken = true;
        }),
      );
      await store.settleOrder(sampleSettlement(record, 'advance'));
      await expect.poll(() => isWoken).toBe(true);
    });

    it('rejects an order that was never submitted', async () => {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission());
      const [unknownRun, unknownIssue] = [
        { ...sampleSettlement(record), runId: '2026-11-15-backend-0999' },
        { ...sampleSettlement(record), issueRef: 'local#9' },
      ];
      expect(await catchCode(store.settleOrder(unknownRun))).toBe('ORDER_NOT_FOUND');
      expect(await catchCode(store.settleOrder(unknownIssue))).toBe('ORDER_NOT_FOUND');
      expect((await store.listExecutions({})).items).toEqual([]);
    });
  });

  describe('resolveItem', () => {
    async function openWithItem() {
      const store = await openSite(await makeSite());
      const { record } = await store.submitOrder(sampleSubmission({ request_id: 'r1' }));
      const item = sampleItem(record);
      await store.settleOrder(sampleSettlement(record, 'needs-human', { item }));
      return { store, record, item };
    }

    it("records who decided what and why, and updates the issue's state", async () => {
      const { store, record, item } = await openWithItem();
      const resolution = sampleResolution(item, record, 'accept', { now: NOW + 3 });
      const settled = { ...item, resolution: resolution.resolution };
      expect(await store.resolveItem(resolution)).toEqual({ status: 'resolved', item: settled });
      expect(await store.findItem(item.id)).toEqual(settled);
      expect(await store.findIssue('local#1')).toMatchObject({
        state: 'review',
        active_run_id: record.order.run_id,
        updated_at: '2026-11-15T06:00:00.003Z',
      });
      expect((await store.listExecutions({})).items[0]).toEqual(resolution.execution);
      expect((await store.listOutbox({})).items[0]).toMatchObject({ trigger: `resolve:${item.id}`, due_at: NOW + 3 });
      expect(await store.findOrder('local#1', record.order.run_id)).toMatchObject({
        decision: { action: 'needs-human' },
      });
    });

    it('resubmits the order under a new run id', async () => {
      const { store, record, item } = await openWithItem();
      const outcome = await store.resolveItem(sampleResolution(item, record, 'retry'));
      expect(outcome).toMatchObject({
        status: 'resolved',
        item: { resolution: { action: 'retry', new_run_id: '2026-11-15-backend-0002' } },
        order: { state: 'queued', order: { run_id: '2026-11-15-backend-0002', instructions: 'Do it.' } },
      });
      expect(await store.findIssue('local#1')).toMatchObject({
        state: 'doing',
        active_run_id: '2026-11-15-backend-0002',
      });
      expect((await store.claimRun(sampleClaim()))?.record.order?.run_id).toBe('2026-11-15-backend-0002');
      const repeat = await store.submitOrder(sampleSubmission({ request_id: 'r1' }));
      expect([repeat.repeated, repeat.record.order.run_id]).toEqual([true, record.order.run_id]);
    });

    it('rejects a resolved item and returns its resolution', async () => {
      const { store, record, item } = await openWithItem();
      const first = sampleResolution(item, record, 'reject');
      await store.resolveItem(first);
      expect(await store.resolveItem(sampleResolution(item, record, 'accept'))).toEqual({
        status: 'conflict',
        activeRunId: record.order.run_id,
        resolution: first.resolution,
      });
      expect(await store.findIssue('local#1')).toMatchObject({ state: 'blocked' });
      expect((await store.listExecutions({})).items).toHaveLength(2);
    });

    it('accepts one of two concurrent resolutions', async () => {
      const { store, record, item } = await openWithItem();
      const outcomes = await Promise.all(
        (['accept', 'retry'] as const).map(async (action) => store.resolveItem(sampleResolution(item, record, action))),
      );
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['conflict', 'resolved']);
    });

    it('rejects an item whose run is not active', async () => {
      const { store, record, item } = await openWithItem();
      await store.resolveItem(sampleResolution(item, record, 'accept'));
      const { record: next } = await store.submitOrder(sampleSubmission());
      const late = sampleItem(record);
      await store.settleOrder(sampleSettlement(next, 'blocked', { item: late }));
      expect(await store.resolveItem(sampleResolution(late, record, 'accept'))).toEqual({
        status: 'conflict',
        activeRunId: next.order.run_id,
        resolution: null,
      });
      expect(await store.findIssue('local#1')).toMatchObject({ state: 'blocked' });
    });

    it('reports an unknown item', async () => {
      const { store, record, item } = await openWithItem();
      const unknown = sampleResolution({ ...item, id: newId('item') }, record, 'accept');
      expect(await store.resolveItem(unknown)).toEqual({ status: 'not_found' });
      expect(await store.findIssue('local#1')).toMatchObject({ state: 'needs-human' });
    });
  });
}
