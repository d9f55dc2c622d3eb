import { execFileSync } from 'node:child_process';
import { readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRunFolder } from './fixtures/make-run-folder.js';
import { appendTo, openForAppending, openForReading, readSmallFile } from './safe-file.js';

describe('a file in a run folder', () => {
  test('is undefined if it is missing', async () => {
    const dir = await makeRunFolder({});
    expect(await openForReading(join(dir, 'none'))).toBeUndefined();
    expect(await readSmallFile(join(dir, 'none'), 10)).toBeUndefined();
  });

  test('cannot be used once it is closed, and is closed after its last use', async () => {
    const dir = await makeRunFolder({ file: 'x'.repeat(100_000) });
    const file = await openForAppending(join(dir, 'file'));
    const reading = file.read(Buffer.alloc(100_000), 0, 100_000, 0);
    await file.close();
    await file.close();
    expect(await reading).toMatchObject({ bytesRead: 100_000 });
    expect(file.fd).toBe(-1);
    await expect(file.read(Buffer.alloc(1), 0, 1, 0)).rejects.toThrow(/EBADF|out of range|closed/i);
    await expect(appendTo(file, 'y')).rejects.toThrow(/EBADF|out of range|closed/i);
  });

  test('is refused if it is a link, for reading and for writing', async () => {
    const dir = await makeRunFolder({ secret: 'x' });
    await symlink(join(dir, 'secret'), join(dir, 'link'));
    await expect(openForReading(join(dir, 'link'))).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
    await expect(openForAppending(join(dir, 'link'))).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
  });

  test('is refused if a link replaces its folder, for reading and for writing', async () => {
    const dir = await makeRunFolder({ 'elsewhere/file': 'secret' });
    await symlink(join(dir, 'elsewhere'), join(dir, 'link'));
    await expect(openForReading(join(dir, 'link', 'file'))).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
    await expect(openForAppending(join(dir, 'link', 'new'))).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
    expect(await readdir(join(dir, 'elsewhere'))).toEqual(['file']);
  });

  test('is never read through a link that keeps replacing its folder', async () => {
    const dir = await makeRunFolder({ 'folder/file': 'own', 'elsewhere/file': 'secret' });
    await symlink(join(dir, 'elsewhere'), join(dir, 'link'));
    const stop = new AbortController();
    const swapRepeatedly = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        await rename(join(dir, 'folder'), join(dir, 'aside'));
        await rename(join(dir, 'link'), join(dir, 'folder'));
        await rename(join(dir, 'folder'), join(dir, 'link'));
        await rename(join(dir, 'aside'), join(dir, 'folder'));
      }
    };
    const swapping = swapRepeatedly();
    const results = new Set<string | undefined>();
    for (let times = 0; times < 2000; times += 1) {
      results.add(await readSmallFile(join(dir, 'folder', 'file'), 10).catch(() => 'refused'));
    }
    stop.abort();
    await swapping;
    expect(results).not.toContain('secret');
    expect(await readSmallFile(join(dir, 'folder', 'file'), 10)).toBe('own');
  });

  test('is refused immediately if it is a pipe', async () => {
    const dir = await makeRunFolder({});
    execFileSync('mkfifo', [join(dir, 'pipe')]);
    await expect(openForReading(join(dir, 'pipe'))).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
    await expect(openForAppending(join(dir, 'pipe'))).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
  });

  test('is refused if it is a folder', async () => {
    const dir = await makeRunFolder({ 'folder/file': '' });
    await expect(openForReading(join(dir, 'folder'))).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
    await expect(openForAppending(join(dir, 'folder'))).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });

  test('is read completely, or refused if it is larger than the limit', async () => {
    const dir = await makeRunFolder({});
    await writeFile(join(dir, 'file'), '汉字');
    expect(await readSmallFile(join(dir, 'file'), 6)).toBe('汉字');
    await expect(readSmallFile(join(dir, 'file'), 5)).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' });
  });
});

test('appends a long text unchanged, wherever its characters of four bytes are', async () => {
  const path = join(await makeRunFolder({}), 'long');
  const file = await openForAppending(path);
  // The second begins one character later, so in one of them a slice would end inside a character.
  const texts = ['😀'.repeat(1_100_000), `x${'😀'.repeat(1_100_000)}`];
  for (const text of texts) await appendTo(file, text);
  await file.close();
  // Compared without a diff, which would be megabytes long.
  expect((await readFile(path, 'utf8')) === texts.join('')).toBe(true);
});
