import { execFileSync } from 'node:child_process';
import { mkdir, realpath, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { findDataFolder, findProjectData, findUserFolder } from './data-folder.js';

async function createProject(files: Readonly<Record<string, string>> = {}) {
  const root = await realpath(await makeFolder({ 'home/x': '', 'shop/README.md': 'x', ...files }));
  const env = { HOME: join(root, 'home') };
  return { root, shop: join(root, 'shop'), env, find: (folder = 'shop') => findProjectData(join(root, folder), env) };
}

function git(folder: string, ...args: string[]): void {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  execFileSync('git', ['-C', folder, ...args], { env, stdio: 'pipe' });
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
    const { path, warning } = find();
    expect(path).toMatch(/\/sluice\/projects\/shop-[0-9a-f]{16}$/);
    expect(path.startsWith(env.HOME)).toBe(true);
    expect(warning).toBeUndefined();
  });

  it('is the same through a link, and different for another project with the same name', async () => {
    const { root, shop, find } = await createProject({ 'other/shop/x': '' });
    await symlink(shop, join(root, 'link'));
    expect(find('link')).toEqual(find());
    expect(find('other/shop')).not.toEqual(find());
  });

  it.each(['ünï çödé ✨', '..dots', '-', 'long'.repeat(50)])(
    'has a plain name for a project named %j',
    async (name) => {
      const { find } = await createProject({ [`${name}/x`]: '' });
      expect(find(name).path).toMatch(/\/projects\/\w[\w.-]{0,39}-[0-9a-f]{16}$/);
    },
  );

  it('is set by SLUICE_DATA for library calls', () => {
    expect(findDataFolder('/shop', { SLUICE_DATA: 'here' })).toEqual({ path: '/shop/here', warning: undefined });
    const home = { HOME: '/home/ada' };
    expect(findDataFolder('/work', { SLUICE_DATA: '', ...home })).toEqual(findProjectData('/work', home));
  });
});

describe('a .sluice in the project', () => {
  it('is used with a warning until the project has a separate folder', async () => {
    const { shop, find } = await createProject({ 'shop/.sluice/sluice.db': 'x' });
    const { path, warning } = find();
    expect(path).toBe(join(shop, '.sluice'));
    const [, target = ''] = /&& mv "[^"]+" "([^"]+)"$/.exec(warning ?? '') ?? [];
    await mkdir(join(target, '..'), { recursive: true });
    await rename(path, target);
    expect(find()).toEqual({ path: target, warning: undefined });
    await mkdir(join(shop, '.sluice'));
    expect(find()).toEqual({ path: target, warning: undefined });
  });

  it('is not used if it is a link', async () => {
    const { root, shop, find } = await createProject({ 'elsewhere/sluice.db': 'x' });
    await symlink(join(root, 'elsewhere'), join(shop, '.sluice'));
    expect(find()).toMatchObject({
      path: expect.stringMatching('/projects/'),
      warning: expect.stringMatching('links'),
    });
  });

  it.runIf(process.getuid?.() === 0)('is not used if it belongs to another user', async () => {
    const { shop, find } = await createProject({ 'shop/.sluice/sluice.db': 'x' });
    execFileSync('chown', ['12345', join(shop, '.sluice')]);
    expect(find()).toMatchObject({ path: expect.stringMatching('/projects/'), warning: expect.stringMatching('user') });
  });

  it.each([
    ['at the top', 'shop', []],
    ['below the top', 'shop/deep/er', []],
    ['in an index of version 4', 'shop', ['update-index', '--index-version', '4']],
    ['in a split index', 'shop', ['update-index', '--split-index']],
    ['in a repository with sha256 objects', 'shop', [], '--object-format=sha256'],
  ])('is not used if git tracks it, %s', async (_, project, command, format = '--object-format=sha1') => {
    const { shop, find } = await createProject({ [`${project}/.sluice/sluice.db`]: 'x', 'shop/unlink': 'x' });
    git(shop, 'init', '-q', format);
    git(shop, 'add', 'README.md', 'unlink');
    expect(find(project).path).toMatch(/\.sluice$/);
    git(shop, 'add', '-f', '.');
    if (command.length > 0) git(shop, ...command);
    const { path, warning } = find(project);
    expect(path).toMatch('/projects/');
    expect(warning).toContain('git tracks it');
  });

  it('is not used in a worktree that tracks it, or if the index is damaged', async () => {
    const { root, shop, find } = await createProject({ 'shop/.sluice/sluice.db': 'x' });
    git(shop, 'init', '-q');
    git(shop, 'add', '-f', '.');
    git(shop, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'x');
    git(shop, 'worktree', 'add', '-q', join(root, 'tree'));
    expect(find('tree').warning).toContain('git tracks it');
    git(shop, 'rm', '-rq', '--cached', '.sluice');
    expect(find().path).toMatch(/\.sluice$/);
    await writeFile(join(shop, '.git/index'), 'DIRC\0\0\0\u0002\0\0\0\u0009');
    expect(find().warning).toContain('git tracks it');
  });

  it('is not used if the repository cannot be read', async () => {
    const { shop, find } = await createProject({ 'shop/.sluice/sluice.db': 'x' });
    await symlink('.git', join(shop, '.git'));
    expect(find().warning).toContain('git tracks it');
  });
});
