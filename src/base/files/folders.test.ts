import { symlink, stat, readdir, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { makeFolder as makeTestFolder } from '../../../test/temporary-folder.js';
import {
  chooseFolder,
  listFirstNames,
  listNames,
  makeFolder,
  prepareDataFolder,
  isPresent,
  removeFolder,
} from './folders.js';
import { findUnusableFolder } from '../../../test/unusable-folder.js';
import { bundleProgram } from '../../../test/bundle-program.js';

async function collect(folder: string, size: number): Promise<(readonly string[])[]> {
  const groups: (readonly string[])[] = [];
  for await (const names of listNames(folder, size, chooseFolder)) groups.push(names);
  return groups;
}

describe('listNames', () => {
  it('returns folders in groups, without files and links', async () => {
    const folder = await makeTestFolder({ 'a/x': '', 'b/x': '', 'c/x': '', file: '' });
    await symlink(join(folder, 'a'), join(folder, 'link'));
    const groups = await collect(folder, 2);
    expect(groups.map((names) => names.length)).toEqual([2, 1]);
    expect(groups.flat().toSorted()).toEqual(['a', 'b', 'c']);
  });

  it('returns nothing for a missing folder, and throws for a file', async () => {
    const folder = await makeTestFolder({ file: '' });
    expect(await collect(join(folder, 'missing'), 2)).toEqual([]);
    await expect(collect(join(folder, 'file'), 2)).rejects.toMatchObject({ code: 'ENOTDIR' });
  });
});

describe('listFirstNames', () => {
  it('stops after the requested number of names', async () => {
    const folder = await makeTestFolder({ 'a/x': '', 'b/x': '', 'c/x': '' });
    expect(await listFirstNames(folder, 2, chooseFolder)).toHaveLength(2);
    expect(await listFirstNames(join(folder, 'missing'), 2, chooseFolder)).toEqual([]);
  });
});

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

it('creates a data folder that only the user can read, and uses an existing one', async () => {
  const folder = await makeTestFolder({});
  await prepareDataFolder(join(folder, 'a/b'));
  await prepareDataFolder(join(folder, 'a/b'));
  expect((await stat(join(folder, 'a/b'))).mode & 0o777).toBe(0o700);
  expect(await readdir(folder)).toEqual(['a']);
});

it.each([
  ['file', 'it is a file'],
  ['file/data', 'part of its path is a file'],
])('explains what to do if the data folder cannot be used: %s', async (path, why) => {
  const folder = await makeTestFolder({ file: '' });
  await expect(prepareDataFolder(join(folder, path))).rejects.toMatchObject({
    code: 'DATA_FOLDER_UNUSABLE',
    message: `Cannot write to the data folder "${join(folder, path)}": ${why}. Fix that, or choose another folder with --data or SLUICE_DATA.`,
  });
});

// Nothing can be created there, not even by root.
it.runIf(process.platform === 'linux')('reports that nothing can be created', async () => {
  await expect(prepareDataFolder('/proc/sluice')).rejects.toMatchObject({
    code: 'DATA_FOLDER_UNUSABLE',
    message: expect.stringContaining('"/proc/sluice"'),
  });
});

const SCRIPT = new URL('./fixtures/remove-unprivileged.js', import.meta.url);

it.each([3, 100])('removes a folder with %i files and links, and leaves what the links point to', async (count) => {
  const root = await makeTestFolder({ 'kept/file': '' });
  const names = Array.from({ length: count }, (_, number) => `folder/below/file-${number}`);
  for (const name of ['folder', 'folder/below']) await mkdir(join(root, name));
  for (const name of names) await writeFile(join(root, name), '');
  await symlink(join(root, 'kept'), join(root, 'folder/below/link'));
  await symlink(join(root, 'kept'), join(root, 'link'));
  for (const name of ['folder', 'link']) await removeFolder(join(root, name));
  expect(await readdir(root)).toEqual(['kept']);
  expect(await readdir(join(root, 'kept'))).toEqual(['file']);
});

it('removes a folder with its files, and ignores a missing one', async () => {
  const folder = join(await makeTestFolder({}), 'folder');
  await mkdir(join(folder, 'inner'), { recursive: true });
  await writeFile(join(folder, 'inner', 'file.txt'), 'x');
  await removeFolder(folder);
  expect(await isPresent(folder)).toBe(false);
  await removeFolder(folder);
});

it.skipIf(process.platform === 'win32').each(['plain', 'read-only'])(
  'removes a %s folder without following links',
  async (kind) => {
    const program = (await bundleProgram(SCRIPT)).start([kind]);
    expect(JSON.parse(await text(program.stdout))).toEqual({
      isRemoved: true,
      isLinkFollowed: false,
      isRootRemoved: true,
    });
  },
);
