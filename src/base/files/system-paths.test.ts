import { realpath, symlink, chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { findDataFolder, findProjectData, findUserFolder, findExecutable } from './folders.js';

async function createProject(files: Readonly<Record<string, string>> = {}) {
  const root = await realpath(await makeFolder({ 'home/x': '', 'shop/README.md': 'x', ...files }));
  const env = { HOME: join(root, 'home') };
  return { root, shop: join(root, 'shop'), env, find: (folder = 'shop') => findProjectData(join(root, folder), env) };
}

describe('the user folder', () => {
  it.each([
    [{ XDG_DATA_HOME: '/srv/ada', HOME: '/home/ada' }, '/srv/ada/sluice'],
    [{ XDG_DATA_HOME: '', HOME: '/home/ada' }, '/home/ada/.local/share/sluice'],
    [{ XDG_DATA_HOME: 'relative', HOME: '/home/ada' }, '/home/ada/.local/share/sluice'],
  ])('respects the environment variables for user data: %j', (env, folder) => {
    expect(findUserFolder(env)).toBe(folder);
  });

  it('does not depend on HOME being set', () => {
    expect(findUserFolder({})).toMatch(/^\/.+\/\.local\/share\/sluice$/);
  });
});

describe("a project's data folder", () => {
  it('is outside the project, with its name and a hash of its path', async () => {
    const { find, env } = await createProject();
    const path = find();
    expect(path).toMatch(/\/sluice\/projects\/shop-[0-9a-f]{16}$/);
    expect(path.startsWith(env.HOME)).toBe(true);
  });

  it('is the same through a link, and different for another project with the same name', async () => {
    const { root, shop, find } = await createProject({ 'other/shop/x': '' });
    await symlink(shop, join(root, 'link'));
    expect(find('link')).toBe(find());
    expect(find('other/shop')).not.toBe(find());
  });

  it.each(['ünï çödé ✨', '..dots', '-', 'long'.repeat(50)])(
    'has a plain name for a project named %j',
    async (name) => {
      const { find } = await createProject({ [`${name}/x`]: '' });
      expect(find(name)).toMatch(/\/projects\/\w[\w.-]{0,39}-[0-9a-f]{16}$/);
    },
  );

  it('is set by SLUICE_DATA for library calls', () => {
    expect(findDataFolder('/shop', { SLUICE_DATA: 'here' })).toBe('/shop/here');
    const home = { HOME: '/home/ada' };
    expect(findDataFolder('/work', { SLUICE_DATA: '', ...home })).toBe(findProjectData('/work', home));
  });
});

describe('findExecutable', () => {
  it('finds the first executable file on PATH, and skips folders', async () => {
    const folder = await makeFolder({ 'a/tool': '', 'b/tool': '', 'c/tool/file': '' });
    await chmod(join(folder, 'a/tool'), 0o644);
    await chmod(join(folder, 'b/tool'), 0o755);
    const path = ['c', 'a', 'b'].map((name) => join(folder, name)).join(':');
    expect(await findExecutable('tool', { path, cwd: '/' })).toBe(join(folder, 'b/tool'));
    expect(await findExecutable('other', { path, cwd: '/' })).toBeUndefined();
  });

  it('resolves a path relative to the working folder', async () => {
    const folder = await makeFolder({ 'bin/tool': '' });
    await chmod(join(folder, 'bin/tool'), 0o755);
    expect(await findExecutable('./bin/tool', { path: '', cwd: folder })).toBe(join(folder, 'bin/tool'));
    expect(await findExecutable(join(folder, 'bin/tool'), { path: '', cwd: '/' })).toBe(join(folder, 'bin/tool'));
  });
});
