import { open, symlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { getSizeInside, isWithin, openInside } from './safe-file.js';

describe('openInside', () => {
  it('opens a file in the folder', async () => {
    const folder = await makeFolder({ 'a/file': 'content' });
    const handle = await openInside(folder, 'a/file');
    expect(await handle?.readFile('utf8')).toBe('content');
    await handle?.close();
  });

  it.each(['missing', 'file/below', 'link/file', '../outside/file', 'a'])('returns undefined for %s', async (path) => {
    const root = await makeFolder({ 'folder/file': '', 'folder/a/file': '', 'outside/file': 'secret' });
    await symlink(join(root, 'outside'), join(root, 'folder/link'));
    expect(await openInside(join(root, 'folder'), path)).toBeUndefined();
  });

  it('closes the file if it cannot be checked', async () => {
    const folder = await makeFolder({ file: 'content' });
    const handle = await open(join(folder, 'file'));
    const spy = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'stat');
    await handle.close();
    spy.mockRejectedValueOnce(Object.assign(new Error('input/output error'), { code: 'EIO' }));
    await expect(openInside(folder, 'file')).rejects.toMatchObject({ code: 'EIO' });
    const handles = spy.mock.contexts as FileHandle[];
    spy.mockRestore();
    expect(handles.map(({ fd }) => fd)).toEqual([-1]);
  });
});

describe('getSizeInside', () => {
  it('returns the size of a regular file, and null for anything else', async () => {
    const folder = await makeFolder({ 'a/file': 'content' });
    await symlink('file', join(folder, 'a/link'));
    expect(await getSizeInside(folder, 'a/file')).toBe(7);
    for (const path of ['a', 'a/link', 'missing', 'a/file/below']) expect(await getSizeInside(folder, path)).toBeNull();
  });
});

describe('isWithin', () => {
  it.each([
    ['/a', '/a', true],
    ['/a', '/a/b', true],
    ['/a', '/a/..b', true],
    ['/a', '/ab', false],
    ['/a/b', '/a', false],
  ])('in %s, %s: %s', (folder, path, expected) => {
    expect(isWithin(folder, path)).toBe(expected);
  });
});
