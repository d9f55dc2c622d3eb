import { describe, expect, it } from 'vitest';
import type { CachedResult, ResultCache, CacheLimits } from './result-cache.js';
import { runResultOf } from '../result/fixtures/run-result-of.js';

/** A key as they are: a hash. */
export const computeKey = (digit: string): string => digit.repeat(64);

/** A result worth keeping. */
export function keptResult(value: unknown): CachedResult {
  return {
    run_id: 'run-1',
    kept_at: '2026-11-15T00:00:00.000Z',
    result: runResultOf({ value }),
  };
}

/** What every cache of results must do, wherever it keeps them. `open` makes one that is empty. */
export function describeResultCache(name: string, open: (limits?: CacheLimits) => Promise<ResultCache>): void {
  describe(`the cache ${name}`, () => {
    it('gives back what was kept', async () => {
      const cache = await open();
      await cache.keep(computeKey('a'), keptResult({ line: 3 }));
      expect(await cache.find(computeKey('a'))).toEqual(keptResult({ line: 3 }));
      expect(await cache.find(computeKey('b'))).toBeUndefined();
    });

    it('keeps the later of two', async () => {
      const cache = await open();
      await cache.keep(computeKey('a'), keptResult(1));
      await cache.keep(computeKey('a'), keptResult(2));
      expect(await cache.find(computeKey('a'))).toEqual(keptResult(2));
    });

    it('holds no more entries than it may, the newest among them', async () => {
      const cache = await open({ entries: 2 });
      for (const key of ['a', 'b', 'c', 'd']) await cache.keep(computeKey(key), keptResult(key));
      const found = await Promise.all(['a', 'b', 'c', 'd'].map(async (key) => cache.find(computeKey(key))));
      expect(found.filter((entry) => entry !== undefined)).toHaveLength(2);
      expect(await cache.find(computeKey('d'))).toEqual(keptResult('d'));
    });

    it('holds no more bytes than it may', async () => {
      const cache = await open({ bytes: 2000 });
      await cache.keep(computeKey('a'), keptResult('x'.repeat(1000)));
      await cache.keep(computeKey('b'), keptResult('y'.repeat(1000)));
      expect(await cache.find(computeKey('a'))).toBeUndefined();
      expect(await cache.find(computeKey('b'))).toBeDefined();
    });

    it('counts bytes, not characters', async () => {
      const cache = await open({ bytes: 2000 });
      await cache.keep(computeKey('a'), keptResult('€'.repeat(700)));
      expect(await cache.find(computeKey('a'))).toBeUndefined();
    });

    it('keeps nothing that is larger than all of it, nor what was kept before under that key', async () => {
      const cache = await open({ bytes: 2000 });
      for (const key of ['a', 'b']) await cache.keep(computeKey(key), keptResult(key));
      await cache.keep(computeKey('a'), keptResult('z'.repeat(5000)));
      expect(await cache.find(computeKey('a'))).toBeUndefined();
      expect(await cache.find(computeKey('b'))).toEqual(keptResult('b'));
    });

    it('hands out copies', async () => {
      const cache = await open();
      const entry = keptResult({ list: [1] });
      await cache.keep(computeKey('a'), entry);
      (entry.result.value as { list: number[] }).list.push(2);
      expect(await cache.find(computeKey('a'))).toEqual(keptResult({ list: [1] }));
    });
  });
}
