import { stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder as makeTestFolder } from '../../test/temporary-folder.js';
import { makeFolder } from './make-folder.js';

it('makes a folder and those above it', async () => {
  const folder = join(await makeTestFolder({}), 'a', 'b', 'c');
  makeFolder(folder);
  makeFolder(folder);
  expect((await stat(folder)).isDirectory()).toBe(true);
});

it('takes a link to a folder for one', async () => {
  const root = await makeTestFolder({ 'real/x': '' });
  await symlink(join(root, 'real'), join(root, 'link'));
  makeFolder(join(root, 'link'));
  makeFolder(join(root, 'link', 'deeper'));
  expect((await stat(join(root, 'real', 'deeper'))).isDirectory()).toBe(true);
});

it('fails at once where a file or a link to nothing is in the way', async () => {
  const root = await makeTestFolder({ file: '' });
  await symlink(join(root, 'gone', 'disk'), join(root, 'unmounted'));
  for (const path of ['file', 'file/a', 'file/a/b', 'unmounted', 'unmounted/a/b']) {
    expect(() => makeFolder(join(root, path))).toThrow(/EEXIST|ENOTDIR|ENOENT/);
  }
});

// Where there is no such place, it cannot be made either.
it('fails at once where nothing can be made', () => {
  expect(() => makeFolder('/proc/sluice/a/b')).toThrow(/ENOENT|EACCES|EPERM|EROFS/);
});
