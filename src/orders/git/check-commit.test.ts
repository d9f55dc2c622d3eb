import { execFileSync } from 'node:child_process';
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { checkCommit } from './examine-commit.js';

function git(dir: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=T', '-c', 'user.email=t@example.com'];
  return execFileSync('git', ['-C', dir, ...identity, ...args], { encoding: 'utf8' }).trim();
}

async function makeRepository() {
  const dir = await makeFolder({ 'a.txt': 'a' });
  git(dir, 'init', '--quiet');
  git(dir, 'add', '.');
  git(dir, 'commit', '--quiet', '-m', 'first');
  return { dir, commit: git(dir, 'rev-parse', 'HEAD') };
}

function setVariable(name: string, value: string): void {
  const before = process.env[name];
  process.env[name] = value;
  onTestFinished(() => {
    if (before === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = before;
  });
}

const notFound = (commit: string) => ({
  problem: { code: 'COMMIT_NOT_FOUND', message: `the repository has no commit ${commit}`, path: 'changes.commit' },
});

describe('checkCommit', () => {
  test('finds a commit by its full hash and by a prefix of it', async () => {
    const { dir, commit } = await makeRepository();
    expect(await checkCommit(dir, commit)).toEqual({});
    expect(await checkCommit(dir, commit.slice(0, 8))).toEqual({});
  });

  test('does not find objects that are missing or not commits', async () => {
    const { dir } = await makeRepository();
    const tree = git(dir, 'rev-parse', 'HEAD^{tree}');
    const absent = 'f'.repeat(40);
    expect(await checkCommit(dir, absent)).toEqual(notFound(absent));
    expect(await checkCommit(dir, tree)).toEqual(notFound(tree));
  });

  test.each(['HEAD', 'main', '--help', '-e', 'HEAD^{commit}', '1a2b3c4d; rm -rf /', '1a2', ''])(
    'never passes %j to git',
    async (commit) => {
      const { dir } = await makeRepository();
      expect(await checkCommit(dir, commit)).toEqual(notFound(commit));
    },
  );

  test("finds a worktree's commits in the repository", async () => {
    const { dir } = await makeRepository();
    const tree = join(await makeFolder({}), 'tree');
    git(dir, 'worktree', 'add', '--quiet', '-b', 'side', tree);
    git(tree, 'commit', '--quiet', '--allow-empty', '-m', 'second');
    expect(await checkCommit(dir, git(tree, 'rev-parse', 'HEAD'))).toEqual({});
  });

  test('cannot check without a repository', async () => {
    const folder = await makeFolder({});
    const notice = {
      code: 'NOT_A_REPOSITORY',
      message: 'the commit was not checked: repo_dir is not a git repository',
      path: 'changes.commit',
    };
    expect(await checkCommit(folder, 'f'.repeat(40))).toEqual({ notice });
    expect(await checkCommit(join(folder, 'gone'), 'f'.repeat(40))).toEqual({ notice });
  });

  test('reports a damaged repository as a problem', async () => {
    const { dir, commit } = await makeRepository();
    await rm(join(dir, '.git', 'HEAD'));
    expect(await checkCommit(dir, commit)).toMatchObject({ problem: { code: 'COMMIT_UNCHECKED' } });
  });

  test('looks in the given folder, regardless of the environment', async () => {
    const { dir, commit } = await makeRepository();
    const other = await makeRepository();
    setVariable('GIT_DIR', join(other.dir, '.git'));
    setVariable('GIT_OBJECT_DIRECTORY', join(other.dir, '.git', 'objects'));
    expect(await checkCommit(dir, commit)).toEqual({});
  });

  test('runs no command that the repository configures', async () => {
    const { dir } = await makeRepository();
    const script = join(dir, 'trap.sh');
    const marker = join(dir, 'sprung');
    await writeFile(script, `#!/bin/sh\ntouch '${marker}'\nexit 1\n`, { mode: 0o755 });
    git(dir, 'config', 'core.repositoryFormatVersion', '1');
    git(dir, 'config', 'extensions.partialClone', 'origin');
    git(dir, 'config', 'remote.origin.promisor', 'true');
    git(dir, 'config', 'remote.origin.url', `ext::${script}`);
    git(dir, 'config', 'protocol.ext.allow', 'always');
    git(dir, 'config', 'core.fsmonitor', script);
    const absent = 'f'.repeat(40);
    expect(await checkCommit(dir, absent)).toEqual(notFound(absent));
    await expect(stat(marker)).rejects.toThrow('ENOENT');
  });

  test('reports that git is missing', async () => {
    const { dir, commit } = await makeRepository();
    const folder = await makeFolder({});
    setVariable('PATH', folder);
    expect(await checkCommit(dir, commit)).toMatchObject({
      problem: { code: 'COMMIT_UNCHECKED', message: 'cannot check the commit: git is not installed' },
    });
    expect(await checkCommit(folder, commit)).toMatchObject({ notice: { code: 'NOT_A_REPOSITORY' } });
  });
});
