import { describe, expect, it } from 'vitest';
import { catchCode, openSite, type MakeSite } from './fixtures/open-site.js';
import {
  sampleClaim,
  sampleExecution,
  sampleItem,
  NOW,
  sampleResolution,
  sampleSettlement,
  sampleSubmission,
} from './fixtures/order-samples.js';
import { readAllPages } from './fixtures/read-all-pages.js';

/** The contract of lists: filters and pages. */
export function describeLists(makeSite: MakeSite): void {
  async function openWithOrders() {
    const store = await openSite(await makeSite());
    const actions = ['advance', 'blocked', 'needs-human', 'advance'] as const;
    for (const [index, action] of actions.entries()) {
      const change = { issue_ref: `local#${index}`, repo_dir: `/repo/${index}`, worker: `worker-${index % 2}` };
      const { record } = await store.submitOrder(sampleSubmission(change));
      const settlement = sampleSettlement(record, action);
      const at = new Date(NOW + index * 1000).toISOString();
      const execution = sampleExecution(record, settlement.active.decision, { at });
      await store.settleOrder({ ...settlement, active: { ...settlement.active, execution } });
    }
    for (const index of [5, 6, 7]) {
      await store.submitOrder(sampleSubmission({ issue_ref: `local#${index}`, repo_dir: `/repo/${index}` }));
    }
    await store.claimRun(sampleClaim());
    return store;
  }

  describe('lists', () => {
    it('are newest first; open orders are oldest first', async () => {
      const store = await openWithOrders();
      const getRefs = (items: readonly { readonly order: { readonly issue_ref: string } }[]): string[] =>
        items.map(({ order }) => order.issue_ref.slice(6));
      expect(getRefs((await store.listOrders({})).items)).toEqual(['7', '6', '5', '3', '2', '1', '0']);
      expect(getRefs((await store.listOrders({ open: true })).items)).toEqual(['5', '6', '7']);
      expect(getRefs((await store.listOrders({ state: 'queued' })).items)).toEqual(['6', '7']);
      expect(getRefs((await store.listOrders({ state: 'running' })).items)).toEqual(['5']);
      expect(getRefs((await store.listOrders({ state: 'settled' })).items)).toEqual(['3', '2', '1', '0']);
      expect(getRefs((await store.listOrders({ issueRef: 'local#2' })).items)).toEqual(['2']);
      expect(getRefs((await store.listOrders({ issueRef: 'local#2', open: true })).items)).toEqual([]);
      expect((await store.listIssues({})).items.map(({ issue_ref }) => issue_ref)[0]).toBe('local#7');
      expect((await store.listIssues({ state: 'review' })).items.map(({ issue_ref }) => issue_ref)).toEqual([
        'local#3',
        'local#0',
      ]);
      expect((await store.listInbox({})).items.map(({ issue_ref }) => issue_ref)).toEqual(['local#2']);
      expect((await store.listInbox({ open: false })).items).toEqual([]);
      expect((await store.listInbox({ issueRef: 'local#1' })).items).toEqual([]);
      expect((await store.listOutbox({ state: 'delivered' })).items).toEqual([]);
      expect((await store.listOutbox({ issueRef: 'local#1' })).items).toHaveLength(1);
    });

    it('sort inbox items oldest first, or newest first on request, open or resolved', async () => {
      const store = await openSite(await makeSite());
      for (const issue_ref of ['local#1', 'local#2', 'local#3']) {
        const { record } = await store.submitOrder(sampleSubmission({ issue_ref }));
        const item = sampleItem(record);
        await store.settleOrder(sampleSettlement(record, 'needs-human', { item }));
        if (issue_ref !== 'local#2') await store.resolveItem(sampleResolution(item, record, 'accept'));
      }
      const find = async (page: Parameters<typeof store.listInbox>[0]): Promise<string[]> =>
        (await store.listInbox(page)).items.map(({ issue_ref }) => issue_ref.slice(6));
      expect(await find({})).toEqual(['1', '2', '3']);
      expect(await find({ open: false })).toEqual(['1', '3']);
      expect(await find({ open: true })).toEqual(['2']);
      expect(await find({ order: 'newest' })).toEqual(['3', '2', '1']);
      expect(await find({ open: false, order: 'newest' })).toEqual(['3', '1']);
      const { next_cursor: cursor } = await store.listInbox({ order: 'newest', limit: 1 });
      expect(await find({ order: 'newest', cursor: cursor ?? '' })).toEqual(['2', '1']);
    });

    it('filter executions by issue, run, worker, decision and time', async () => {
      const store = await openWithOrders();
      const find = async (filter: Parameters<typeof store.listExecutions>[0]): Promise<string[]> =>
        (await store.listExecutions(filter)).items.map(({ issue_ref }) => issue_ref.slice(6));
      expect(await find({})).toEqual(['3', '2', '1', '0']);
      expect(await find({ issueRef: 'local#1' })).toEqual(['1']);
      expect(await find({ runId: '2026-11-15-backend-0001' })).toEqual(['3', '2', '1', '0']);
      expect(await find({ worker: 'worker-1' })).toEqual(['3', '1']);
      expect(await find({ decision: 'advance' })).toEqual(['3', '0']);
      expect(await find({ since: '2026-11-15T06:00:01.000Z', until: '2026-11-15T06:00:03.000Z' })).toEqual(['2', '1']);
      expect(await find({ decision: 'advance', worker: 'worker-0', limit: 1 })).toEqual(['0']);
    });

    it('sort executions by time, then by insertion, in pages', async () => {
      const store = await openSite(await makeSite());
      // Written in this order, as if by two hosts with different clocks.
      const times = [3, 1, 2, 2, 5, 4].map((second) => new Date(NOW + second * 1000).toISOString());
      for (const [index, at] of times.entries()) {
        const { record } = await store.submitOrder(sampleSubmission({ issue_ref: `local#${index}` }));
        const settlement = sampleSettlement(record);
        const execution = sampleExecution(record, settlement.active.decision, { at });
        await store.settleOrder({ ...settlement, active: { ...settlement.active, execution } });
      }
      const read = async (filter: Parameters<typeof store.listExecutions>[0]): Promise<string> => {
        const pages = await readAllPages(async (page) => store.listExecutions({ ...filter, limit: 2, ...page }));
        for (const page of pages) expect(page.length).toBeLessThanOrEqual(2);
        return pages
          .flat()
          .map(({ issue_ref }) => issue_ref.slice(6))
          .join('');
      };
      const [since, until] = [times[2] ?? '', times[4] ?? ''];
      expect(await read({})).toBe('450321');
      expect(await read({ since })).toBe('45032');
      expect(await read({ until })).toBe('50321');
      expect(await read({ since, until })).toBe('5032');
      expect(await read({ since, until, decision: 'advance' })).toBe('5032');
      const { next_cursor } = await store.listExecutions({ limit: 1 });
      // With a cursor from another list and an earlier `until`, the earlier bound applies.
      expect(await read({ until: since, ...(next_cursor === null ? {} : { cursor: next_cursor }) })).toBe('1');
      expect(await catchCode(store.listExecutions({ cursor: '7' }))).toBe('INVALID_CURSOR');
    });

    it('have pages that neither repeat nor skip rows, even while rows are added', async () => {
      const store = await openSite(await makeSite());
      for (let index = 0; index < 5; index++)
        await store.submitOrder(sampleSubmission({ issue_ref: `local#${index}` }));
      const listedRefs: string[] = [];
      let cursor: string | undefined;
      for (let turn = 0; turn < 3; turn++) {
        const page = await store.listOrders({ limit: 2, ...(cursor === undefined ? {} : { cursor }) });
        listedRefs.push(...page.items.map(({ order }) => order.issue_ref));
        await store.submitOrder(sampleSubmission({ issue_ref: `local#new${turn}` }));
        cursor = page.next_cursor ?? undefined;
      }
      expect(listedRefs).toEqual(['local#4', 'local#3', 'local#2', 'local#1', 'local#0']);
      expect(cursor).toBeUndefined();
    });

    it('have no next page after a full last page', async () => {
      const store = await openSite(await makeSite());
      for (let index = 0; index < 2; index++)
        await store.submitOrder(sampleSubmission({ issue_ref: `local#${index}` }));
      expect((await store.listOrders({ limit: 2, open: true })).next_cursor).toBeNull();
      expect((await store.listOrders({ limit: 1, open: true })).next_cursor).not.toBeNull();
    });

    it('reject an invalid cursor', async () => {
      const store = await openSite(await makeSite());
      expect(await catchCode(store.listIssues({ cursor: 'x' }))).toBe('INVALID_CURSOR');
      expect(await catchCode(store.listRuns({ cursor: '-1' }))).toBe('INVALID_CURSOR');
    });

    it('are bounded regardless of the requested limit', async () => {
      const store = await openSite(await makeSite());
      // In batches: under load, calls that wait too long for a connection are rejected.
      for (let group = 0; group < 13; group += 1)
        await Promise.all(Array.from({ length: 77 }, async () => store.submitOrder(sampleSubmission())));
      for (const limit of [5000, Infinity]) expect((await store.listOrders({ limit })).items).toHaveLength(1000);
      for (const limit of [0, -1, Number.NaN]) expect((await store.listOrders({ limit })).items).toHaveLength(1);
      expect((await store.listOrders({})).items).toHaveLength(100);
    });

    it.each(['local#1\0', '\uD800', "' OR 1=1 --", 'x'.repeat(100_000)])(
      'and lookups find nothing for an impossible name (%#)',
      async (name) => {
        const store = await openWithOrders();
        const found = await Promise.all([
          store.findIssue(name),
          store.findOrder(name, name),
          store.findItem(name),
          store.findRun(name),
          store.find(name),
        ]);
        expect(found).toEqual(found.map(() => undefined));
        const listed = await Promise.all([
          store.listOrders({ issueRef: name }),
          store.listInbox({ issueRef: name }),
          store.listOutbox({ issueRef: name }),
          store.listExecutions({ issueRef: name, runId: name, worker: name }),
          store.listRuns({ engine: name }),
        ]);
        expect(listed.map(({ items }) => items.length)).toEqual(listed.map(() => 0));
        expect(await store.read({ runId: name, protocol: 'fcmp', limit: 1 })).toEqual([]);
      },
    );
  });

  describe('a closed store', () => {
    it('rejects every call, and can be closed twice', async () => {
      const store = await openSite(await makeSite());
      await store.close();
      await store.close();
      expect(await catchCode(store.submitOrder(sampleSubmission()))).toBe('STORE_CLOSED');
      expect(await catchCode(store.listRuns({}))).toBe('STORE_CLOSED');
      expect(await catchCode(store.append('run', []))).toBe('STORE_CLOSED');
      for (const watch of [
        () => store.watch('run', () => undefined),
        () => store.watchQueue(() => undefined),
        () => store.watchRequests('run', () => undefined),
      ]) {
        expect(watch).toThrow(expect.objectContaining({ code: 'STORE_CLOSED' }));
      }
    });
  });
}
