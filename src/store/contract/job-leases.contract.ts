import { describe, expect, it } from 'vitest';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import { NOW } from './fixtures/order-samples.js';

/** The contract of jobs that processes share. */
export function describeJobLeases(makeSite: MakeSite): void {
  describe('a job', () => {
    const hold = (owner: string, names: readonly string[], ms = 0) => ({
      owner,
      names,
      now: NOW + ms,
      until: NOW + ms + 100,
    });
    const sort = (names: readonly string[]) => names.toSorted();

    it('is held by one process, until its time is up', async () => {
      const store = await openSite(await makeSite());
      expect(sort(await store.leaseJobs(hold('p1', ['a', 'b'])))).toEqual(['a', 'b']);
      expect(await store.leaseJobs(hold('p2', ['a', 'c'], 99))).toEqual(['c']);
      expect(sort(await store.leaseJobs(hold('p2', ['a', 'b'], 100)))).toEqual(['a', 'b']);
      expect(await store.leaseJobs(hold('p1', ['a', 'b'], 101))).toEqual([]);
    });

    it('is held longer by a process that renews it', async () => {
      const store = await openSite(await makeSite());
      await store.leaseJobs(hold('p1', ['a']));
      expect(await store.leaseJobs(hold('p1', ['a'], 90))).toEqual(['a']);
      expect(await store.leaseJobs(hold('p2', ['a'], 189))).toEqual([]);
      expect(await store.leaseJobs(hold('p2', ['a'], 190))).toEqual(['a']);
    });

    it('can be held by another process as soon as it is released', async () => {
      const store = await openSite(await makeSite());
      await store.leaseJobs(hold('p1', ['a']));
      await store.leaseJobs(hold('p2', ['b']));
      await store.releaseJobs('p1');
      expect(await store.leaseJobs(hold('p3', ['a', 'b'], 1))).toEqual(['a']);
    });

    it('is held by one process, however many request it at the same time', async () => {
      const store = await openSite(await makeSite());
      const owners = Array.from({ length: 8 }, (_, index) => `p${index}`);
      const held = await Promise.all(owners.map(async (owner) => store.leaseJobs(hold(owner, ['a', 'b', 'c']))));
      expect(sort(held.flat())).toEqual(['a', 'b', 'c']);
    });
  });
}
