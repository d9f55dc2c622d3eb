import { describe, expect, it } from 'vitest';
import type { CachedResult } from '../../runs/ports/result-cache.js';
import { openSite, type MakeSite } from './fixtures/open-site.js';
import { HOSTILE_TEXT, runResultOf } from './fixtures/run-samples.js';

/** How results are kept. */
export function describeResultCache(makeSite: MakeSite): void {
  const entryOf = (text: string): CachedResult => ({
    run_id: 'r1',
    result: runResultOf({ value: { text } }),
    kept_at: '2026-11-15T06:00:00.000Z',
  });

  describe('the result cache', () => {
    it('returns what was kept last under a key', async () => {
      const store = await openSite(await makeSite());
      expect(await store.find('k')).toBeUndefined();
      await store.keep('k', entryOf('first'));
      await store.keep('k', entryOf(HOSTILE_TEXT));
      expect(await store.find('k')).toEqual(entryOf(HOSTILE_TEXT));
    });

    it('lets the entries go that were kept longest ago', async () => {
      const store = await openSite(await makeSite(), { cache: { entries: 3 } });
      for (const key of ['a', 'b', 'c']) await store.keep(key, entryOf(key));
      await store.keep('a', entryOf('again'));
      await store.keep('d', entryOf('d'));
      const found = await Promise.all(['a', 'b', 'c', 'd'].map(async (key) => (await store.find(key)) !== undefined));
      expect(found).toEqual([true, false, true, true]);
    });

    it('keeps no more bytes than allowed, and nothing larger than that', async () => {
      const size = Buffer.byteLength(JSON.stringify(entryOf('x'.repeat(100))));
      const store = await openSite(await makeSite(), { cache: { bytes: 2 * size } });
      for (const key of ['a', 'b', 'c']) await store.keep(key, entryOf('x'.repeat(100)));
      expect(await store.find('a')).toBeUndefined();
      expect(await store.find('c')).toBeDefined();
      await store.keep('large', entryOf('x'.repeat(1000)));
      expect(await store.find('large')).toBeUndefined();
      expect(await store.find('c')).toBeDefined();
    });
  });
}
