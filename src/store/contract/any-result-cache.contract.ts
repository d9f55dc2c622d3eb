import { describe, expect, it } from 'vitest';
import type { CachedResult, CacheLimits, ResultCache } from '../ports/index.js';
import { createRunResult } from './fixtures/create-run-result.js';

/** Creates a valid key. */
export const createKey = (digit: string): string => digit.repeat(64);

/** A result that can be cached. */
export function cachedResult(value: unknown): CachedResult {
  return {
    run_id: 'run-1',
    cached_at: '2026-11-15T00:00:00.000Z',
    result: createRunResult({ value }),
  };
}

/** The contract of every result cache. `open` creates an empty one. */
export function describeResultCache(name: string, open: (limits?: CacheLimits) => Promise<ResultCache>): void {
  describe(`the cache ${name}`, () => {
    it('returns what was stored', async () => {
      const cache = await open();
      await cache.cacheResult(createKey('a'), cachedResult({ line: 3 }));
      expect(await cache.find(createKey('a'))).toEqual(cachedResult({ line: 3 }));
      expect(await cache.find(createKey('b'))).toBeUndefined();
    });

    it('replaces an entry under the same key', async () => {
      const cache = await open();
      await cache.cacheResult(createKey('a'), cachedResult(1));
      await cache.cacheResult(createKey('a'), cachedResult(2));
      expect(await cache.find(createKey('a'))).toEqual(cachedResult(2));
    });

    it('limits the number of entries and keeps the newest', async () => {
      const cache = await open({ entries: 2 });
      for (const key of ['a', 'b', 'c', 'd']) await cache.cacheResult(createKey(key), cachedResult(key));
      const entries = await Promise.all(['a', 'b', 'c', 'd'].map(async (key) => cache.find(createKey(key))));
      expect(entries.filter((entry) => entry !== undefined)).toHaveLength(2);
      expect(await cache.find(createKey('d'))).toEqual(cachedResult('d'));
    });

    it('limits the total number of bytes', async () => {
      const cache = await open({ bytes: 2000 });
      await cache.cacheResult(createKey('a'), cachedResult('x'.repeat(1000)));
      await cache.cacheResult(createKey('b'), cachedResult('y'.repeat(1000)));
      expect(await cache.find(createKey('a'))).toBeUndefined();
      expect(await cache.find(createKey('b'))).toBeDefined();
    });

    it('counts bytes, not characters', async () => {
      const cache = await open({ bytes: 2000 });
      await cache.cacheResult(createKey('a'), cachedResult('€'.repeat(700)));
      expect(await cache.find(createKey('a'))).toBeUndefined();
    });

    it('does not store an entry larger than the cache, and removes the old entry for that key', async () => {
      const cache = await open({ bytes: 2000 });
      for (const key of ['a', 'b']) await cache.cacheResult(createKey(key), cachedResult(key));
      await cache.cacheResult(createKey('a'), cachedResult('z'.repeat(5000)));
      expect(await cache.find(createKey('a'))).toBeUndefined();
      expect(await cache.find(createKey('b'))).toEqual(cachedResult('b'));
    });

    it('returns copies', async () => {
      const cache = await open();
      const entry = cachedResult({ list: [1] });
      await cache.cacheResult(createKey('a'), entry);
      (entry.result.value as { list: number[] }).list.push(2);
      expect(await cache.find(createKey('a'))).toEqual(cachedResult({ list: [1] }));
    });
  });
}
