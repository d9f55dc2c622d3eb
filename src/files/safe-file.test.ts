import { execFileSync } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRunFolder } from '../run-folder/fixtures/make-run-folder.js';
import { openForAppending, openForReading, readSmallFile } from './safe-file.js';

describe('files of a run folder', () => {
  test('a file that is not there is undefined', async () => {
    const dir = await makeRunFolder({});
    expect(await openForReading(join(dir, 'none'))).toBeUndefined();
    expect(await readSmallFile(join(dir, 'none'), 10)).toBeUndefined();
  });

  test('a link is refused, for reading and for writing', async () => {
    const dir = await makeRunFolder({ secret: 'x' });
    await symlink(join(dir, 'secret'), join(dir, 'link'));
    await expect(openForReading(join(dir, 'link'))).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
    await expect(openForAppending(join(dir, 'link'))).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
  });

  test('a pipe is refused at once instead of waited for', async () => {
    const dir = await makeRunFolder({});
    execFileSync('mkfifo', [join(dir, 'pipe')]);
    await expect(openForReading(join(dir, 'pipe'))).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
    await expect(openForAppending(join(dir, 'pipe'))).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
  });

  test('a folder is refused', async () => {
    const dir = await makeRunFolder({ 'folder/file': '' });
    await expect(openForReading(join(dir, 'folder'))).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
    await expect(openForAppending(join(dir, 'folder'))).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });

  test('a small file is read whole, a longer one refused', async () => {
    const dir = await makeRunFolder({});
    await writeFile(join(dir, 'file'), '汉字');
    expect(await readSmallFile(join(dir, 'file'), 6)).toBe('汉字');
    await expect(readSmallFile(join(dir, 'file'), 5)).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' });
  });
});
