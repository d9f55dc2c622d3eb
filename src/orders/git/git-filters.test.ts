import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { adaptGitFilters, readGitFilters } from './git-filters.js';

/** Creates a home folder with a git configuration. */
async function useHome(gitconfig: string, extraFiles: Readonly<Record<string, string>> = {}): Promise<void> {
  vi.stubEnv('HOME', await makeFolder({ '.gitconfig': gitconfig, ...extraFiles }));
  vi.stubEnv('XDG_CONFIG_HOME', undefined);
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('readGitFilters', () => {
  it("reads only the commands of named filters, from the user's configuration and its includes", async () => {
    const included = '[filter "a.b"]\n\tclean = included %f\n\trequired\n\tother = x\n';
    const userConfig = '[filter "a.b"]\n\tsmudge = own\n[filter "unnamed"]\n\tclean = cat\n[include]\n\tpath = more\n';
    await useHome(userConfig, { more: included });
    expect(await readGitFilters(['a.b'])).toEqual({
      'filter.a.b.smudge': 'own',
      'filter.a.b.clean': 'included %f',
      'filter.a.b.required': 'true',
    });
    expect(await readGitFilters([])).toEqual({});
  });

  it.each([
    ['is not defined', '[user]\n\tname = x\n'],
    ['has no command', '[filter "mine"]\n\trequired = true\n\tclean =\n'],
    ['cannot be read', '[filter "mine"\n'],
  ])('rejects a name that %s', async (_, gitconfig) => {
    await useHome(gitconfig);
    await expect(readGitFilters(['mine'])).rejects.toMatchObject({
      code: 'UNKNOWN_GIT_FILTER',
      message: expect.stringMatching(/^The setting "git\.filters" names "mine", which .* git lfs install/),
    });
  });
});

describe('adaptGitFilters', () => {
  it("lets Git LFS store its files next to the repository's objects, and changes no other filter", () => {
    const lfs = { 'filter.lfs.process': 'git-lfs filter-process' };
    const objects = join('/srv', 'shop', '.git', 'objects');
    expect(adaptGitFilters(lfs, objects)).toEqual({ ...lfs, 'lfs.storage': join('/srv', 'shop', '.git', 'lfs') });
    const other = { 'filter.other.clean': 'cat' };
    expect(adaptGitFilters(other, objects)).toBe(other);
  });
});
