import { mkdtemp, readFile, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { CacheLimits } from '../../store/ports/index.js';
import { createFileResultCache, createMemoryResultCache } from './result-caches.js';
import { describeResultCache, cachedResult, createKey } from '../../store/contract/any-result-cache.contract.js';

async function makeData(): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), 'sluice-cache-'));
  onTestFinished(async () => rm(data, { recursive: true, force: true }));
  return data;
}

const CACHES = [
  ['in memory', async (limits?: CacheLimits) => createMemoryResultCache(limits)],
  ['in files', async (limits?: CacheLimits) => createFileResultCache(await makeData(), limits)],
] as const;

/** File times are coarse, and entries can be ordered by last use only if their times differ. */
async function markAsOld(data: string): Promise<void> {
  const folder = join(data, 'cache');
  const earlier = new Date(Date.now() - 60_000);
  for (const name of await readdir(folder)) await utimes(join(folder, name), earlier, earlier);
}

for (const [name, open] of CACHES) describeResultCache(name, open);

test.each([
  ['in memory', async () => ({ cache: createMemoryResultCache({ entries: 2 }), data: undefined })],
  ['in files', async () => makeData().then((data) => ({ cache: createFileResultCache(data, { entries: 2 }), data }))],
])('a cache %s evicts the least recently used result', async (_, open) => {
  const { cache, data } = await open();
  for (const key of ['a', 'b']) await cache.cacheResult(createKey(key), cachedResult(key));
  if (data !== undefined) await markAsOld(data);
  await cache.find(createKey('a'));
  await cache.cacheResult(createKey('c'), cachedResult('c'));
  const values = await Promise.all(
    ['a', 'b', 'c'].map(async (key) => (await cache.find(createKey(key)))?.result.value),
  );
  expect(values).toEqual(['a', undefined, 'c']);
});

test.each([
  ['truncated', (text: string) => text.slice(0, -20)],
  ['changed', (text: string) => text.replace('"line":3', '"line":4')],
  ['for another key', (text: string) => text.replaceAll('a'.repeat(64), 'b'.repeat(64))],
  ['empty', () => ''],
  ['not JSON', () => '{\n{'],
])('an entry that is %s is a miss', async (_, damage) => {
  const data = await makeData();
  const cache = createFileResultCache(data);
  await cache.cacheResult(createKey('a'), cachedResult({ line: 3 }));
  const path = join(data, 'cache', `${createKey('a')}.result`);
  await writeFile(path, damage(await readFile(path, 'utf8')));
  expect(await cache.find(createKey('a'))).toBeUndefined();
  await cache.cacheResult(createKey('a'), cachedResult({ line: 5 }));
  expect((await cache.find(createKey('a')))?.result.value).toEqual({ line: 5 });
});

test('a link in place of an entry is a miss', async () => {
  const data = await makeData();
  const cache = createFileResultCache(data);
  await cache.cacheResult(createKey('b'), cachedResult(1));
  await symlink(join(data, 'cache', `${createKey('b')}.result`), join(data, 'cache', `${createKey('a')}.result`));
  expect(await cache.find(createKey('a'))).toBeUndefined();
});

test('temporary files left by a crash are removed, but not files being written', async () => {
  const data = await makeData();
  const cache = createFileResultCache(data);
  await cache.cacheResult(createKey('a'), cachedResult(1));
  const names = ['old.result.1.tmp', 'new.result.2.tmp', 'notes.txt'];
  for (const name of names) await writeFile(join(data, 'cache', name), '');
  const yesterday = new Date(Date.now() - 24 * 60 * 60 * 1000);
  for (const name of ['old.result.1.tmp', 'notes.txt']) await utimes(join(data, 'cache', name), yesterday, yesterday);
  await cache.cacheResult(createKey('b'), cachedResult(2));
  const expectedNames = [`${createKey('a')}.result`, `${createKey('b')}.result`, 'new.result.2.tmp', 'notes.txt'];
  expect((await readdir(join(data, 'cache'))).toSorted()).toEqual(expectedNames);
});

test('an invalid key is a miss', async () => {
  const cache = createFileResultCache(await makeData());
  await cache.cacheResult('../../x', cachedResult(1));
  expect(await cache.find('../../x')).toBeUndefined();
});
