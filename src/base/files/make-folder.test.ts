import { stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findUnusableFolder } from '../../../test/unusable-folder.js';
import { makeFolder as makeTestFolder } from '../../../test/temporary-folder.js';
import { makeFolder } from './make-folder.js';

it('creates a folder and its missing parents', async () => {
  const folder = join(await makeTestFolder({}), 'a', 'b', 'c');
  await makeFolder(folder);
  await makeFolder(folder);
  expect((await stat(folder)).isDirectory()).toBe(true);
});

it('accepts a link to a folder', async () => {
  const root = await makeTestFolder({ 'real/x': '' });
  await symlink(join(root, 'real'), join(root, 'link'));
  await makeFolder(join(root, 'link'));
  await makeFolder(join(root, 'link', 'deeper'));
  expect((await stat(join(root, 'real', 'deeper'))).isDirectory()).toBe(true);
});

it('fails immediately if a file or a dangling link is on the path', async () => {
  const root = await makeTestFolder({ file: '' });
  await symlink(join(root, 'gone', 'disk'), join(root, 'unmounted'));
  for (const path of ['file', 'file/a', 'file/a/b', 'unmounted', 'unmounted/a/b']) {
    await expect(makeFolder(join(root, path))).rejects.toThrow(/EEXIST|ENOTDIR|ENOENT/);
  }
});

it('fails immediately if no folder can be created', async () => {
  await expect(makeFolder(join(await findUnusableFolder(), 'a', 'b'))).rejects.toThrow(/ENOENT|EEXIST|ENOTDIR/);
});

it('creates folders that only the user can access', async () => {
  const root = await makeTestFolder({});
  await makeFolder(join(root, 'a', 'b'));
  for (const path of ['a', 'a/b']) expect((await stat(join(root, path))).mode & 0o777).toBe(0o700);
});
