import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { CachedResult, ResultCache } from '../ports/result-cache.js';
import { runResultOf } from '../result/fixtures/run-result-of.js';
import type { CacheLimits } from './cache-limits.js';

/** A key as they are: a hash. */
export const keyOf = (digit: string): string => digit.repeat(64);

/** A result worth keeping. */
export function keptResult(value: unknown): CachedResult {
  return {
    run_id: 'run-1',
    kept_at: '2026-11-15T00:00:00.000Z',
    result: runResultOf({ value }),
  };
}

/** What every cache of results must do. */
export function describeResultCache(name: string, open: (limits?: CacheLimits) => Promise<ResultCache>): void {
  describe(`the cache ${name}`, () => {
    it('gives back what was kept', async () => {
      const cache = await open();
      await cache.keep(keyOf('a'), keptResult({ line: 3 }));
      expect(await cache.find(keyOf('a'))).toEqual(keptResult({ line: 3 }));
      expect(await cache.find(keyOf('b'))).toBeUndefined();
    });

    it('keeps the later of two', async () => {
      const cache = await open();
      await cache.keep(keyOf('a'), keptResult(1));
      await cache.keep(keyOf('a'), keptResult(2));
      expect(await cache.find(keyOf('a'))).toEqual(keptResult(2));
    });

    it('forgets the one that was not asked for the longest', async () => {
      const cache = await open({ entries: 2 });
      for (const key of ['a', 'b']) await cache.keep(keyOf(key), keptResult(key));
      await sleep(20);
      await cache.find(keyOf('a'));
      await sleep(20);
      await cache.keep(keyOf('c'), keptResult('c'));
      const found = await Promise.all(['a', 'b', 'c'].map(async (key) => (await cache.find(keyOf(key)))?.result.value));
      expect(found).toEqual(['a', undefined, 'c']);
    });

    it('holds no more bytes than it may', async () => {
      const cache = await open({ bytes: 2000 });
      await cache.keep(keyOf('a'), keptResult('x'.repeat(1000)));
      await sleep(20);
      await cache.keep(keyOf('b'), keptResult('y'.repeat(1000)));
      expect(await cache.find(keyOf('a'))).toBeUndefined();
      expect(await cache.find(keyOf('b'))).toBeDefined();
      await cache.keep(keyOf('c'), keptResult('z'.repeat(5000)));
      expect(await cache.find(keyOf('c'))).toBeUndefined();
      expect(await cache.find(keyOf('b'))).toBeDefined();
    });

    it('hands out copies', async () => {
      const cache = await open();
      const entry = keptResult({ list: [1] });
      await cache.keep(keyOf('a'), entry);
      (entry.result.value as { list: number[] }).list.push(2);
      expect(await cache.find(keyOf('a'))).toEqual(keptResult({ list: [1] }));
    });
  });
}
