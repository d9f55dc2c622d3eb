import { mkdir, open, readFile, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRunFolder } from './fixtures/make-run-folder.js';
import { replaceFile, openForAppending, openForReading, readSmallFile } from './safe-file.js';
import { makeFolderBelow, withCheckedFolder, withFolder, withOpenFolder } from './safe-folder.js';

/** The folders between the data folder and a run file. */
const LEVELS = ['runs', 'runs/one', 'runs/one/.audit'] as const;
const FOLDER = 'runs/one/.audit';

/** Creates a data folder, and another tree of the same shape as the target of links. */
async function createDataFolders() {
  const dir = await makeRunFolder({ [`data/${FOLDER}/file`]: 'own', [`elsewhere/${FOLDER}/file`]: 'secret' });
  return { dir, data: join(dir, 'data'), otherTree: join(dir, 'elsewhere') };
}

describe.each(LEVELS)('a link that replaces %s', (level) => {
  test('is not followed, for reading, writing, replacing or creating', async () => {
    const { data, otherTree } = await createDataFolders();
    await rename(join(data, level), join(data, 'aside'));
    await symlink(join(otherTree, level), join(data, level));
    const file = join(data, FOLDER, 'file');
    const root = { trustedRoot: data };
    for (const attempt of [
      async () => readSmallFile(file, 10, async () => openForReading(file, root)),
      async () => openForAppending(join(data, FOLDER, 'new'), root),
      async () => replaceFile(file, 'ours', root),
      async () => makeFolderBelow(join(data, FOLDER, 'deeper'), data),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: 'UNSAFE_FILE', message: expect.stringContaining(level) });
    }
    expect(await readdir(join(otherTree, FOLDER))).toEqual(['file']);
    expect(await readFile(join(otherTree, FOLDER, 'file'), 'utf8')).toBe('secret');
  });

  test.each([
    ['opened', withOpenFolder],
    ['checked before and after', withCheckedFolder],
  ] as const)('is never followed while it appears and disappears, with folders that are %s', async (_, using) => {
    const { data, otherTree } = await createDataFolders();
    await symlink(join(otherTree, level), join(data, 'link'));
    const over = new AbortController();
    const exchange = async (): Promise<void> => {
      while (!over.signal.aborted) {
        await rename(join(data, level), join(data, 'aside'));
        await rename(join(data, 'link'), join(data, level));
        await rename(join(data, level), join(data, 'link'));
        await rename(join(data, 'aside'), join(data, level));
      }
    };
    const read = async (): Promise<string> => {
      const handle = using(join(data, FOLDER), data, {
        work: async (folderPath) => open(join(folderPath, 'file')),
        undo: async (opened) => opened.close(),
      });
      const file = await handle.catch(() => undefined);
      try {
        return (await file?.readFile('utf8')) ?? 'refused';
      } finally {
        await file?.close();
      }
    };
    const exchanging = exchange();
    const seen = new Set<string>();
    for (let times = 0; times < 500; times += 1) seen.add(await read());
    over.abort();
    await exchanging;
    expect(seen).not.toContain('secret');
    expect(await read()).toBe('own');
  });
});

describe('a folder that is in use', () => {
  test('stays the same even if it is renamed or replaced', async () => {
    const { data, otherTree } = await createDataFolders();
    await withFolder(
      join(data, FOLDER),
      { trustedRoot: data },
      {
        work: async (folderPath) => {
          await rm(join(data, 'runs'), { recursive: true });
          await symlink(join(otherTree, 'runs'), join(data, 'runs'));
          await expect(writeFile(join(folderPath, 'file'), 'x')).rejects.toMatchObject({ code: 'ENOENT' });
        },
      },
    );
    expect(await readFile(join(otherTree, FOLDER, 'file'), 'utf8')).toBe('secret');
  });

  test('can be below a link outside the boundary', async () => {
    const { dir, data } = await createDataFolders();
    await symlink(data, join(dir, 'home'));
    const trustedRoot = join(dir, 'home');
    await replaceFile(join(trustedRoot, FOLDER, 'file'), 'new', { trustedRoot });
    expect(await readFile(join(data, FOLDER, 'file'), 'utf8')).toBe('new');
  });

  test('is refused outside the boundary, and causes the system error if it is missing', async () => {
    const { dir, data } = await createDataFolders();
    const work = async () => undefined;
    await expect(withFolder(dir, { trustedRoot: data }, { work })).rejects.toMatchObject({ code: 'UNSAFE_FILE' });
    await expect(withFolder(join(data, 'x/y'), { trustedRoot: data }, { work })).rejects.toMatchObject({
      code: 'ENOENT',
    });
    await mkdir(join(data, 'z'));
    await makeFolderBelow(join(data, 'z/deep/er'), data);
    expect(await readdir(join(data, 'z/deep'))).toEqual(['er']);
  });
});
