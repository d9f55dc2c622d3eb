import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { prepareDataFolder } from './prepare-data-folder.js';

it('creates a data folder that only the user can read, and uses an existing one', async () => {
  const folder = await makeFolder({});
  await prepareDataFolder(join(folder, 'a/b'));
  await prepareDataFolder(join(folder, 'a/b'));
  expect((await stat(join(folder, 'a/b'))).mode & 0o777).toBe(0o700);
  expect(await readdir(folder)).toEqual(['a']);
});

it.each([
  ['file', 'it is a file'],
  ['file/data', 'part of its path is a file'],
])('explains what to do if the data folder cannot be used: %s', async (path, why) => {
  const folder = await makeFolder({ file: '' });
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
