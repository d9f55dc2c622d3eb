import { mkdir, realpath, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { resolveAllowedFolder } from './allowed-requests.js';

async function makeFolders() {
  const folder = await realpath(
    await makeFolder({ 'root/a/b/x': '', 'rooted/x': '', 'secret/x': '', 'root/data/runs/1/x': '' }),
  );
  return { folder, rules: { roots: [join(folder, 'root')], data: join(folder, 'root/data') } };
}

const refusedError = { code: 'FOLDER_NOT_ALLOWED' };

describe('a requested folder', () => {
  it('may be a root or a folder under one', async () => {
    const { folder, rules } = await makeFolders();
    expect(await resolveAllowedFolder(join(folder, 'root'), rules)).toBe(join(folder, 'root'));
    expect(await resolveAllowedFolder(join(folder, 'root/a/b'), rules)).toBe(join(folder, 'root/a/b'));
  });

  it.each(['', '/', '/etc', 'root', './root/a', '..'])('may not be %j', async (path) => {
    const { rules } = await makeFolders();
    await expect(resolveAllowedFolder(path, rules)).rejects.toMatchObject(refusedError);
  });

  it('may not be outside the roots, even through links and ".."', async () => {
    const { folder, rules } = await makeFolders();
    await symlink(join(folder, 'secret'), join(folder, 'root/link'));
    for (const path of ['secret', 'rooted', 'root/../secret', 'root/a/../../secret', 'root/link', 'root/a\0b']) {
      await expect(resolveAllowedFolder(`${folder}/${path}`, rules)).rejects.toMatchObject(refusedError);
    }
  });

  it('is returned as its real path, so changing a link later has no effect', async () => {
    const { folder, rules } = await makeFolders();
    await symlink(join(folder, 'root/a'), join(folder, 'root/inner'));
    expect(await resolveAllowedFolder(join(folder, 'root/inner'), rules)).toBe(join(folder, 'root/a'));
  });

  it('is refused with the same message whether it is forbidden or missing', async () => {
    const { folder, rules } = await makeFolders();
    const readMessage = async (path: string) =>
      resolveAllowedFolder(path, rules).catch((error: unknown) => String(error));
    expect(await readMessage(join(folder, 'secret'))).toBe(await readMessage(join(folder, 'gone')));
  });

  it('may not be a folder that Sluice writes to in the data folder', async () => {
    const { folder, rules } = await makeFolders();
    for (const name of ['cache', 'processes', 'locks', 'mirrors/m.git']) {
      await mkdir(join(folder, 'root/data', name), { recursive: true });
    }
    for (const name of ['runs', 'runs/1', 'cache', 'processes', 'locks', 'mirrors/m.git']) {
      await expect(resolveAllowedFolder(join(folder, 'root/data', name), rules)).rejects.toMatchObject(refusedError);
    }
    await mkdir(join(folder, 'root/data/work'));
    expect(await resolveAllowedFolder(join(folder, 'root/data/work'), rules)).toBe(join(folder, 'root/data/work'));
  });

  it('is refused if no root is configured', async () => {
    const { folder, rules } = await makeFolders();
    await expect(resolveAllowedFolder(join(folder, 'root'), { ...rules, roots: [] })).rejects.toMatchObject(
      refusedError,
    );
    await expect(
      resolveAllowedFolder(join(folder, 'root'), { ...rules, roots: [join(folder, 'gone')] }),
    ).rejects.toMatchObject(refusedError);
  });
});
