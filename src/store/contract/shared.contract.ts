import { describe, expect, it, vi } from 'vitest';
import { describeRetentionCounts } from './retention.contract.js';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import { sampleClaim, NOW, sampleSettlement, sampleSubmission } from './fixtures/order-samples.js';
import { sampleFcmp, sampleRasp, sampleSpec } from './fixtures/run-samples.js';

/** The contract of a store that multiple processes use concurrently; `where` as in `describeStore`. */
export function describeSharedStore(where: string, makeSite: MakeSite): void {
  describe(`a store ${where}, used by multiple processes`, () => {
    it("makes each process's changes visible to the others, even after all have closed it", async () => {
      const url = await makeSite();
      const [first, second] = [await openSite(url), await openSite(url)];
      const { record } = await first.submitOrder(sampleSubmission());
      expect(await second.findOrder('local#1', record.order.run_id)).toEqual(record);
      await second.settleOrder(sampleSettlement(record));
      expect(await first.findIssue('local#1')).toMatchObject({ state: 'review' });
      await first.close();
      await second.close();
      expect(await (await openSite(url)).findIssue('local#1')).toMatchObject({ state: 'review' });
    });

    describeRetentionCounts(makeSite);

    it('is created once when opened concurrently', async () => {
      const url = await makeSite();
      const stores = await Promise.all(Array.from({ length: 4 }, async () => openSite(url)));
      const numbers = await Promise.all(
        stores.map(async (store) => (await store.submitOrder(sampleSubmission())).record.order.run_id),
      );
      expect(new Set(numbers).size).toBe(4);
    });

    it('has one permanent installation id for all processes', async () => {
      const url = await makeSite();
      const stores = await Promise.all(Array.from({ length: 4 }, async () => openSite(url)));
      const [id = '', ...others] = await Promise.all(stores.map(async (store) => store.readInstallation()));
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
      expect(new Set(others)).toEqual(new Set([id]));
      for (const store of stores) await store.close();
      expect(await (await openSite(url)).readInstallation()).toBe(id);
      expect(await (await openSite(await makeSite())).readInstallation()).not.toBe(id);
    });

    it('assigns each run and message to one process', async () => {
      const url = await makeSite();
      const stores = await Promise.all(Array.from({ length: 3 }, async () => openSite(url)));
      const [first] = stores;
      for (let index = 0; index < 6; index++) {
        const change = { issue_ref: `local#${index}`, repo_dir: `/repo/${index % 3}` };
        await first?.submitOrder(sampleSubmission(change));
        const spec = sampleSpec({ workdir: `/run/${index}` });
        await first?.createRun({ id: `r${index}`, spec, state: 'queued', now: NOW });
      }
      const claimAll = async <T>(claim: (store: (typeof stores)[number], id: string) => Promise<T>): Promise<T[]> => {
        const claims = [...stores, ...stores, ...stores].map(async (store, turn) => claim(store, `w${turn}`));
        return Promise.all(claims);
      };
      const orders = await claimAll(async (store, id) => store.claimRun(sampleClaim(id, { kinds: ['orders'] })));
      const claimed = orders.flatMap((each) => each?.order ?? []);
      expect(claimed.map(({ order }) => order.repo_dir).toSorted()).toEqual(['/repo/0', '/repo/1', '/repo/2']);
      const runs = await claimAll(async (store, id) => store.claimRun(sampleClaim(id, { kinds: ['runs'] })));
      expect(runs.flatMap((run) => run?.record.id ?? []).toSorted()).toEqual(['r0', 'r1', 'r2', 'r3', 'r4', 'r5']);
      for (const record of claimed) await first?.settleOrder(sampleSettlement(record));
      const messages = await claimAll(async (store, id) =>
        store.claimOutbox({ workerId: id, leaseMs: 1000, now: NOW, limit: 1 }),
      );
      expect(new Set(messages.flat().map(({ id }) => id)).size).toBe(3);
      expect(messages.flat()).toHaveLength(3);
    });

    it('wakes the watchers of a run for events appended by another process', async () => {
      const url = await makeSite();
      const [writer, reader] = [await openSite(url), await openSite(url)];
      await writer.append('run', [sampleFcmp(1)]);
      const found = new Set<string>();
      const reads: Promise<void>[] = [];
      const stop = reader.watch('run', () => void reads.push(readEvents()));
      const readEvents = async (): Promise<void> => {
        const fcmp = await reader.read({ runId: 'run', protocol: 'fcmp', limit: 10 });
        const rasp = await reader.read({ runId: 'run', protocol: 'rasp', limit: 10 });
        for (const each of [...fcmp, ...rasp]) found.add(JSON.stringify(each));
      };
      for (const event of [sampleFcmp(2), sampleRasp(1, 1), sampleRasp(2, 1)]) {
        await writer.append('run', [event]);
        await vi.waitFor(() => expect([...found]).toContain(JSON.stringify(event)), { timeout: 15_000 });
      }
      stop();
      // The store must not be closed while a late wake-up is still reading.
      await Promise.all(reads);
    });

    it('wakes workers for work submitted by another process', async () => {
      const url = await makeSite();
      const [submitter, worker] = [await openSite(url), await openSite(url)];
      const claimOrder = async (report: (issueRef: string) => void): Promise<void> => {
        const run = await worker.claimRun(sampleClaim());
        if (run !== undefined) report(run.record.order?.issue_ref ?? '');
      };
      const claims: Promise<void>[] = [];
      let stop = (): void => undefined;
      const claimed = new Promise<string>((resolve) => {
        stop = worker.watchQueue(() => void claims.push(claimOrder(resolve)));
      });
      await submitter.submitOrder(sampleSubmission());
      expect(await claimed).toBe('local#1');
      stop();
      await Promise.all(claims);
    });
  });
}
