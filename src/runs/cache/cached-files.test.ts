import { mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { restoreFiles, storeFiles } from './cached-result.js';
import type { CachedFile } from '../../store/ports/index.js';

async function makeFolders() {
  const root = await makeFolder({});
  const [store, workdir] = [join(root, 'store'), join(root, 'work')];
  await mkdir(workdir);
  const keep = async (created: readonly string[], limits?: { files: number; bytes: number }) => {
    const artifacts = { created: [...created], modified: [], deleted: [] };
    const result = await storeFiles(store, { workdir, artifacts, inputFiles: [], hasSecret: () => false }, limits);
    if ('reason' in result) throw new Error(result.reason);
    return result.files;
  };
  return { root, store, workdir, keep };
}

it('restoreFiles restores content and execute permission, and creates missing folders', async () => {
  const { store, workdir, keep } = await makeFolders();
  await mkdir(join(workdir, 'bin'));
  await writeFile(join(workdir, 'bin', 'go'), '#!/bin/sh\n', { mode: 0o755 });
  await writeFile(join(workdir, 'plain'), 'x');
  const files = await keep(['bin/go', 'plain']);
  await rm(join(workdir, 'bin'), { recursive: true });
  await rm(join(workdir, 'plain'));
  expect(await restoreFiles(store, workdir, files)).toBe(true);
  expect(await readFile(join(workdir, 'bin', 'go'), 'utf8')).toBe('#!/bin/sh\n');
  expect((await stat(join(workdir, 'bin', 'go'))).mode & 0o100).toBe(0o100);
  expect((await stat(join(workdir, 'plain'))).mode & 0o111).toBe(0);
});

it('restoreFiles writes nothing through a link', async () => {
  const { root, store, workdir, keep } = await makeFolders();
  await mkdir(join(workdir, 'out'));
  await writeFile(join(workdir, 'out', 'a'), 'x');
  const files = await keep(['out/a']);
  await rm(join(workdir, 'out'), { recursive: true });
  await mkdir(join(root, 'elsewhere'));
  await symlink(join(root, 'elsewhere'), join(workdir, 'out'));
  expect(await restoreFiles(store, workdir, files)).toBe(false);
  expect(await readdir(join(root, 'elsewhere'))).toEqual([]);
});

it.each(['../a', '/a', '.git/hooks/post-checkout', '.audit/x'])(
  'restoreFiles rejects an entry with the path %s',
  async (path) => {
    const { root, store, workdir, keep } = await makeFolders();
    await writeFile(join(workdir, 'a'), 'x');
    const [file] = await keep(['a']);
    const forged: CachedFile[] = file === undefined ? [] : [{ ...file, path }];
    expect(forged).toHaveLength(1);
    expect(await restoreFiles(store, workdir, forged)).toBe(false);
    expect((await readdir(root)).toSorted()).toEqual(['store', 'work']);
  },
);

it('restoreFiles writes nothing if any file cannot be restored', async () => {
  const { store, workdir, keep } = await makeFolders();
  await writeFile(join(workdir, 'a'), 'one');
  await writeFile(join(workdir, 'b'), 'two');
  const files = await keep(['a', 'b']);
  await rm(join(workdir, 'a'));
  await writeFile(join(workdir, 'b'), 'mine');
  expect(await restoreFiles(store, workdir, files)).toBe(false);
  expect(await readdir(workdir)).toEqual(['b']);
});

it('storeFiles evicts the least recently used content', async () => {
  const { store, workdir, keep } = await makeFolders();
  const limits = { files: 2, bytes: 1000 };
  for (const [index, name] of ['a', 'b', 'c'].entries()) {
    await writeFile(join(workdir, name), name);
    const [file] = await keep([name], limits);
    // File times are coarse.
    await utimes(join(store, file?.sha256 ?? ''), index, index);
  }
  await writeFile(join(workdir, 'd'), 'd');
  await keep(['d'], limits);
  expect(await readdir(store)).toHaveLength(2);
  await writeFile(join(workdir, 'e'), 'e'.repeat(1000));
  await keep(['e'], limits);
  expect(await readdir(store)).toHaveLength(1);
});
