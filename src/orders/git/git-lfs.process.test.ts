import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { findPointer, hasPointers } from './git-lfs.js';
import { createWorktree } from './worktree.js';

const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 5000\n`;

async function makeRepository(attributes: string) {
  const root = await makeFolder({ 'repository/a.bin': POINTER, 'repository/.gitattributes': attributes });
  const repoDir = join(root, 'repository');
  const git = (...args: readonly string[]) => {
    const identity = ['-c', 'user.name=x', '-c', 'user.email=x@example.org', '-c', 'filter.lfs.clean=cat'];
    return execFileSync('git', ['-C', repoDir, ...identity, ...args], { encoding: 'utf8' }).trim();
  };
  git('init', '--quiet', '--initial-branch=main');
  const commit = (): string => {
    git('add', '.');
    git('commit', '--quiet', '-m', 'Change');
    return git('rev-parse', 'HEAD');
  };
  commit();
  return { repoDir, git, commit, worktree: { repoDir, folder: join(root, 'one'), branch: 'sluice/one' } };
}

describe('files in Git LFS', () => {
  it.each([
    ['*.bin filter=lfs diff=lfs merge=lfs -text\n', {}, true],
    ['*.bin filter=lfs diff=lfs merge=lfs -text\n', { 'filter.lfs.smudge': 'cat' }, false],
    ['# *.bin filter=lfs\n*.bin filter=lfsx\n', {}, false],
  ])('are pointers in a worktree, %j with the filters %j: %s', async (attributes, filters, expected) => {
    const { worktree } = await makeRepository(attributes);
    expect(await createWorktree({ ...worktree, filters })).toEqual({});
    expect(await hasPointers(worktree.folder, filters)).toBe(expected);
  });

  it('prevent a worktree if their content is missing, with advice', async () => {
    const { worktree, repoDir } = await makeRepository('*.bin filter=lfs\n');
    const filters = { 'filter.lfs.smudge': 'false', 'filter.lfs.clean': 'cat', 'filter.lfs.required': 'true' };
    expect((await createWorktree({ ...worktree, filters })).error).toBe(
      `the content of "a.bin" is stored by Git LFS and is not on this host; Sluice does not download it. ` +
        `Run "git lfs fetch --all" in "${repoDir}", or remove "lfs" from "git.filters" to work with pointers`,
    );
  });

  it("are found among a commit's changes", async () => {
    const { repoDir, git, commit } = await makeRepository('');
    const first = git('rev-parse', 'HEAD');
    const find = async (hash: string) => findPointer(join(repoDir, '.git'), hash);
    await writeFile(join(repoDir, 'plain.txt'), 'plain\n');
    const plain = commit();
    for (const name of ['*.bin', 'b.bin']) await writeFile(join(repoDir, name), name === 'b.bin' ? POINTER : 'plain\n');
    const second = commit();
    git('update-ref', '--no-deref', 'HEAD', first);
    expect(await find(plain)).toBeUndefined();
    expect(await find(second)).toBe('b.bin');
    expect(await find(first)).toBeUndefined();
  });
});
