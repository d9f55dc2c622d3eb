import { describe, expect, it } from 'vitest';
import { describeResultCache as describeAnyResultCache, cachedResult } from './any-result-cache.contract.js';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import { UNTRUSTED_TEXT } from './fixtures/run-samples.js';

/** The result cache contract, with additions for stores. */
export function describeResultCache(makeSite: MakeSite): void {
  describeAnyResultCache('of the store', async (limits = {}) => openSite(await makeSite(), { cache: limits }));

  describe('find and keep', () => {
    it('preserve all output an agent can print', async () => {
      const store = await openSite(await makeSite());
      await store.cacheResult('k', cachedResult(UNTRUSTED_TEXT));
      expect(await store.find('k')).toEqual(cachedResult(UNTRUSTED_TEXT));
    });

    it('evict the oldest entries, since a hit writes nothing', async () => {
      const store = await openSite(await makeSite(), { cache: { entries: 3 } });
      for (const key of ['a', 'b', 'c']) await store.cacheResult(key, cachedResult(key));
      await store.cacheResult('a', cachedResult('again'));
      await store.find('b');
      await store.cacheResult('d', cachedResult('d'));
      const found = await Promise.all(['a', 'b', 'c', 'd'].map(async (key) => (await store.find(key)) !== undefined));
      expect(found).toEqual([true, false, true, true]);
    });
  });
}
