import { rmSync } from 'node:fs';
import { mkdir, readdir, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../../test/temporary-folder.js';
import { readRepos } from '../../repos/repos.js';
import { lockFolder } from '../../../runs/index.js';
import { createWorktree } from '../../git/worktree.js';
import { git, makeRepository } from '../../git/fixtures/git-server.js';
import { fetchMirror, pushCommit } from '../../git/mirror.js';
import { createMirrorJob } from '../start-maintenance.js';

const DAY = 86_400_000;

/** Sets up a mirror and a function that sweeps some days after its last use. */
async function openMirror() {
  const repository = await makeRepository({ 'work.txt': 'begin\n' });
  const data = await makeFolder({});
  const [repo] = readRepos([repository.url], {});
  if (repo === undefined) throw new Error('there is no repository');
  const mirror = await fetchMirror(data, repo);
  const sweep = async (days: number, repos: readonly string[] = []) => {
    const job = createMirrorJob({ data, repos: readRepos(repos, {}), clock: () => Date.now() + days * DAY });
    return job.work(new AbortController().signal);
  };
  return { ...repository, data, repo, mirror, sweep };
}

describe('a repository mirror', () => {
  it('is removed a month after its last use, but not while it is configured', async () => {
    const { url, data, repo, mirror, sweep } = await openMirror();
    expect(await sweep(29)).toBe(0);
    expect(await sweep(31, [url])).toBe(0);
    const oldDate = new Date(Date.now() - 60 * DAY);
    await utimes(`${mirror}.lock`, oldDate, oldDate);
    // A fetch is a use.
    await fetchMirror(data, repo);
    expect(await sweep(1)).toBe(0);
    expect(await sweep(31)).toBe(1);
    expect(await readdir(join(data, 'mirrors'))).toEqual([]);
    expect(await fetchMirror(data, repo)).toBe(mirror);
  });

  it('is removed even if another mirror disappears during the sweep', async () => {
    const { data, mirror } = await openMirror();
    // Sorts first, so it is swept first.
    const other = join(data, 'mirrors', `${'0'.repeat(32)}.git`);
    await mkdir(other);
    const job = createMirrorJob({
      data,
      repos: [],
      clock: () => {
        rmSync(other, { recursive: true, force: true });
        return Date.now() + 31 * DAY;
      },
    });
    expect(await job.work(new AbortController().signal)).toBe(1);
    expect(await readdir(join(data, 'mirrors'))).not.toContain(basename(mirror));
  });

  it('is removed completely after a crash during its removal', async () => {
    const { data, mirror, sweep } = await openMirror();
    await mkdir(`${mirror}.removed/objects`, { recursive: true });
    await sweep(1);
    expect(await readdir(join(data, 'mirrors'))).not.toContain(`${basename(mirror)}.removed`);
  });

  it('is kept while an order uses it, or a process fetches into it', async () => {
    const { data, mirror, sweep } = await openMirror();
    const folder = join(data, 'worktrees', 'one');
    expect(await createWorktree({ repoDir: mirror, folder, branch: 'sluice/one' })).toEqual({});
    expect(await sweep(31)).toBe(0);
    git(mirror, 'worktree', 'remove', folder);
    const lock = await lockFolder(join(data, 'locks'), `${mirror}.lock`);
    expect(await sweep(31)).toBe(0);
    await lock.release();
    expect(await sweep(31)).toBe(1);
  });

  it('is kept while it has a commit that was not pushed', async () => {
    const { data, repo, mirror, sweep, bare } = await openMirror();
    const tree = git(mirror, 'rev-parse', 'HEAD^{tree}');
    const commit = git(mirror, 'commit-tree', '-p', 'HEAD', '-m', 'Work', tree);
    git(mirror, 'branch', 'sluice/one', commit);
    expect(await sweep(1000)).toBe(0);
    await pushCommit(data, repo, { commit, branch: 'sluice/one' });
    expect(git(bare, 'rev-parse', 'sluice/one')).toBe(commit);
    expect(await sweep(29)).toBe(0);
    expect(await sweep(31)).toBe(1);
  });
});
