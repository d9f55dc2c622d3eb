import { stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { closedPlace } from '../../test/closed-place.js';
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

it('fails at once where nothing can be made', async () => {
  const place = join(await closedPlace(), 'a', 'b');
  expect(() => makeFolder(place)).toThrow(/ENOENT|EEXIST|ENOTDIR/);
});
