import { describe, expect, it } from 'vitest';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import { NOW } from './fixtures/order-samples.js';

/** The contract of job leases. */
export function describeJobLeases(makeSite: MakeSite): void {
  describe('a job', () => {
    const request = (owner: string, names: readonly string[], ms = 0) => ({
      owner,
      names,
      now: NOW + ms,
      until: NOW + ms + 100,
    });
    const sort = (names: readonly string[]) => names.toSorted();

    it('is leased to one process until the lease expires', async () => {
      const store = await openSite(await makeSite());
      expect(sort(await store.leaseJobs(request('p1', ['a', 'b'])))).toEqual(['a', 'b']);
      expect(await store.leaseJobs(request('p2', ['a', 'c'], 99))).toEqual(['c']);
      expect(sort(await store.leaseJobs(request('p2', ['a', 'b'], 100)))).toEqual(['a', 'b']);
      expect(await store.leaseJobs(request('p1', ['a', 'b'], 101))).toEqual([]);
    });

    it('stays leased to a process that renews the lease', async () => {
      const store = await openSite(await makeSite());
      await store.leaseJobs(request('p1', ['a']));
      expect(await store.leaseJobs(request('p1', ['a'], 90))).toEqual(['a']);
      expect(await store.leaseJobs(request('p2', ['a'], 189))).toEqual([]);
      expect(await store.leaseJobs(request('p2', ['a'], 190))).toEqual(['a']);
    });

    it('can be leased to another process as soon as it is released', async () => {
      const store = await openSite(await makeSite());
      await store.leaseJobs(request('p1', ['a']));
      await store.leaseJobs(request('p2', ['b']));
      await store.releaseJobs('p1');
      expect(await store.leaseJobs(request('p3', ['a', 'b'], 1))).toEqual(['a']);
    });

    it('is leased to one process even if many request it concurrently', async () => {
      const store = await openSite(await makeSite());
      const owners = Array.from({ length: 8 }, (_, index) => `p${index}`);
      const leased = await Promise.all(owners.map(async (owner) => store.leaseJobs(request(owner, ['a', 'b', 'c']))));
      expect(sort(leased.flat())).toEqual(['a', 'b', 'c']);
    });
  });
}
