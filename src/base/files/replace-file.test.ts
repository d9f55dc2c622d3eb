import { open, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { makeRunFolder } from './fixtures/make-run-folder.js';
import { beginReplacement, replaceFile } from './safe-file.js';

test('keeps the old content until the new content is complete', async () => {
  const dir = await makeRunFolder({ log: 'old' });
  const replacement = await beginReplacement(join(dir, 'log'));
  await replacement.file.appendFile('new');
  expect(await readFile(join(dir, 'log'), 'utf8')).toBe('old');
  await replacement.commit();
  await replacement.discard();
  expect(await readFile(join(dir, 'log'), 'utf8')).toBe('new');
  expect(await readdir(dir)).toEqual(['log']);
});

test('a discarded replacement leaves no files behind', async () => {
  const dir = await makeRunFolder({ log: 'old' });
  const replacement = await beginReplacement(join(dir, 'log'));
  await replacement.file.appendFile('half');
  await replacement.discard();
  expect(await readFile(join(dir, 'log'), 'utf8')).toBe('old');
  expect(await readdir(dir)).toEqual(['log']);
});

test('a link at the path is replaced, not followed', async () => {
  const dir = await makeRunFolder({ 'other-file': 'theirs' });
  await symlink(join(dir, 'other-file'), join(dir, 'log'));
  await replaceFile(join(dir, 'log'), 'ours');
  expect(await readFile(join(dir, 'other-file'), 'utf8')).toBe('theirs');
  expect(await readFile(join(dir, 'log'), 'utf8')).toBe('ours');
});

test.each([
  [true, 2],
  [false, 0],
])('with isDurable %s, the disk is synced %i times', async (isDurable, syncs) => {
  const dir = await makeRunFolder({ log: 'old' });
  const handle = await open(join(dir, 'log'));
  const sync = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, 'sync');
  await handle.close();
  await replaceFile(join(dir, 'log'), 'new', { isDurable });
  expect(sync).toHaveBeenCalledTimes(syncs);
  sync.mockRestore();
  expect(await readFile(join(dir, 'log'), 'utf8')).toBe('new');
});
