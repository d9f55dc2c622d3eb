import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { evictOldest } from './evict-oldest.js';

async function makeCache() {
  const folder = await makeFolder({
    old: 'xx',
    middle: 'xx',
    new: 'xx',
    'left.tmp': '',
    'current.tmp': '',
    'files/a': '',
  });
  const ages = { old: 3000, middle: 2000, new: 1000, 'left.tmp': 7200 };
  for (const [name, seconds] of Object.entries(ages)) {
    const time = Date.now() / 1000 - seconds;
    await utimes(join(folder, name), time, time);
  }
  return folder;
}

test('removes the least recently used files and what a crash left, but no folder', async () => {
  const folder = await makeCache();
  await evictOldest(folder, { files: 2, bytes: 100 });
  expect((await readdir(folder)).toSorted()).toEqual(['current.tmp', 'files', 'middle', 'new']);
});

test('counts bytes, and keeps the newest file whatever its time', async () => {
  const folder = await makeCache();
  await evictOldest(folder, { files: 10, bytes: 2 }, join(folder, 'old'));
  expect((await readdir(folder)).toSorted()).toEqual(['current.tmp', 'files', 'old']);
});
