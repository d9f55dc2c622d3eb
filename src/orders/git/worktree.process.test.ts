import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { runGit } from './run-git.js';
import type { WorkResult } from '../../store/records/work-result.js';
import { commitLeftovers } from './commit-leftovers.js';
import { examineCommit } from './examine-commit.js';
import { recordStart } from './repository.js';
import { createWorktree, removeWorktree } from './worktree.js';

const IDENTITY = ['-c', 'user.name=x', '-c', 'user.email=x@example.org'];

/** Creates a repository with a text file and a binary file, and a script that leaves a marker file when run. */
async function makeRepository() {
  const root = await makeFolder({ 'repository/a.txt': 'one\n', 'repository/data.bin': 'two\n' });
  const repoDir = join(root, 'repository');
  const trace = join(root, 'was-run');
  const trap = join(root, 'trap.sh');
  await writeFile(trap, `#!/bin/sh\nenv > '${trace}'\ncat\n`);
  await chmod(trap, 0o755);
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', repoDir, ...IDENTITY, ...args], { encoding: 'utf8' });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  // What is known about a commit is kept: commits of two repositories within a second must not be the same.
  git('commit', '--quiet', '-m', `Begin ${root}`);
  const worktree = { repoDir, folder: join(root, 'worktrees', 'one'), branch: 'sluice/one' };
  return { root, repoDir, git, trap, wasRun: () => existsSync(trace), worktree };
}

async function readStart(repoDir: string) {
  const start = await recordStart(repoDir);
  if ('why' in start) throw new Error(start.why);
  return start;
}

type Repository = Awaited<ReturnType<typeof makeRepository>>;

/** Ways a repository can make git run a command. */
const TRICKS: Readonly<Record<string, (repository: Repository) => Promise<void>>> = {
  'a smudge filter': async ({ git, trap, repoDir }) => {
    await writeFile(join(repoDir, '.gitattributes'), '* filter=trap\n');
    git('add', '.gitattributes');
    git('commit', '--quiet', '-m', 'Attributes');
    git('config', 'filter.trap.smudge', trap);
    git('config', 'filter.trap.clean', trap);
  },
  'a process filter that is required': async ({ git, trap, repoDir }) => {
    await writeFile(join(repoDir, '.gitattributes'), '* filter=trap\n');
    git('add', '.gitattributes');
    git('commit', '--quiet', '-m', 'Attributes');
    git('config', 'filter.trap.process', trap);
    git('config', 'filter.trap.required', 'true');
  },
  'a filter in info/attributes': async ({ git, trap, repoDir }) => {
    await appendFile(join(repoDir, '.git', 'info', 'attributes'), '* filter=trap\n');
    git('config', 'filter.trap.smudge', trap);
    git('config', 'filter.trap.clean', trap);
  },
  'a filter in an included file': async ({ git, trap, root, repoDir }) => {
    await writeFile(join(root, 'included'), `[filter "trap"]\n  smudge = ${trap}\n  clean = ${trap}\n`);
    git('config', 'include.path', join(root, 'included'));
    await appendFile(join(repoDir, '.git', 'info', 'attributes'), '* filter=trap\n');
  },
  'a filter in an attributes file of the configuration': async ({ git, trap, root }) => {
    await writeFile(join(root, 'attributes'), '* filter=trap\n');
    git('config', 'core.attributesFile', join(root, 'attributes'));
    git('config', 'filter.trap.smudge', trap);
    git('config', 'filter.trap.clean', trap);
  },
  'a filter in the configuration of worktrees': async ({ git, trap, repoDir }) => {
    git('config', 'extensions.worktreeConfig', 'true');
    git('config', '--worktree', 'filter.trap.smudge', trap);
    git('config', '--worktree', 'filter.trap.clean', trap);
    await appendFile(join(repoDir, '.git', 'info', 'attributes'), '* filter=trap\n');
  },
  'a hook': async ({ trap, repoDir }) => {
    for (const name of ['post-checkout', 'reference-transaction', 'post-index-change', 'pre-auto-gc']) {
      await mkdir(join(repoDir, '.git', 'hooks'), { recursive: true });
      await writeFile(join(repoDir, '.git', 'hooks', name), await readFile(trap));
      await chmod(join(repoDir, '.git', 'hooks', name), 0o755);
    }
  },
  'a folder of hooks': async ({ git, trap, root }) => {
    await mkdir(join(root, 'hooks'));
    await writeFile(join(root, 'hooks', 'post-checkout'), await readFile(trap));
    await chmod(join(root, 'hooks', 'post-checkout'), 0o755);
    git('config', 'core.hooksPath', join(root, 'hooks'));
  },
  'a file system monitor': async ({ git, trap }) => void git('config', 'core.fsmonitor', trap),
  'an external diff': async ({ git, trap }) => void git('config', 'diff.external', trap),
  'a text converter': async ({ git, trap, repoDir }) => {
    git('config', 'diff.trap.textconv', trap);
    await appendFile(join(repoDir, '.git', 'info', 'attributes'), '* diff=trap\n');
  },
  'an alias of a command that is used': async ({ git, trap }) => {
    for (const name of ['worktree', 'status', 'read-tree', 'rev-parse']) git('config', `alias.${name}`, `!${trap}`);
  },
  'a pager and an editor': async ({ git, trap }) => {
    git('config', 'core.pager', trap);
    git('config', 'core.editor', trap);
  },
  'an ssh command and a remote to fetch missing objects from': async ({ git, trap }) => {
    git('config', 'core.sshCommand', trap);
    git('config', 'remote.origin.url', 'ssh://example.org/x');
    git('config', 'remote.origin.promisor', 'true');
    git('config', 'extensions.partialClone', 'origin');
  },
  'a remote helper': async ({ git, trap }) => {
    git('config', 'remote.origin.url', `ext::${trap}`);
    git('config', 'remote.origin.promisor', 'true');
  },
  'a submodule with an update command': async ({ git, trap, repoDir }) => {
    git('config', 'submodule.sub.update', `!${trap}`);
    git('config', 'submodule.sub.url', repoDir);
    git('config', 'submodule.recurse', 'true');
  },
};

describe('a worktree of a malicious repository', () => {
  beforeEach(() => {
    vi.stubEnv('SLUICE_TOKENS', 'secret');
    vi.stubEnv('GITHUB_TOKEN', 'secret');
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it.each(Object.entries(TRICKS))(
    'runs nothing through %s when it is created, changed, committed and removed',
    async (_, prepare) => {
      const repository = await makeRepository();
      const { worktree, wasRun } = repository;
      await prepare(repository);
      expect(await createWorktree(worktree)).toEqual({});
      expect(await readFile(join(worktree.folder, 'a.txt'), 'utf8')).toBe('one\n');
      await writeFile(join(worktree.folder, 'a.txt'), 'changed\n');
      expect((await removeWorktree(worktree)).note).toContain(worktree.folder);
      await writeFile(join(worktree.folder, 'a.txt'), 'one\n');
      expect(await removeWorktree(worktree)).toEqual({});
      expect(existsSync(worktree.folder)).toBe(false);
      expect(wasRun()).toBe(false);
    },
  );

  it('the test detects a command that is run', async () => {
    const repository = await makeRepository();
    await TRICKS['a smudge filter']?.(repository);
    repository.git('worktree', 'add', '--quiet', join(repository.root, 'other'));
    expect(repository.wasRun()).toBe(true);
  });

  it('calls git without the environment of this process', async () => {
    const { repoDir } = await makeRepository();
    const { stdout } = await runGit(repoDir, ['-c', 'alias.dump=!env', 'dump']);
    expect(stdout).toContain('GIT_CONFIG_GLOBAL=/dev/null');
    expect(stdout).not.toContain('secret');
    expect(stdout).not.toContain('SLUICE_');
  });
});

/** Counts git processes until the end of the test. */
async function countGit(root: string): Promise<() => Promise<number>> {
  const real = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const log = join(root, 'calls');
  await mkdir(join(root, 'bin'));
  await writeFile(join(root, 'bin', 'git'), `#!/bin/sh\necho "$*" >> '${log}'\nexec '${real}' "$@"\n`, { mode: 0o755 });
  vi.stubEnv('PATH', `${join(root, 'bin')}:${process.env['PATH']}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  return async () => (await readFile(log, 'utf8').catch(() => '')).split('\n').length - 1;
}

describe('the start of an order', () => {
  it.each<readonly [string, number, (git: Repository['git'], repository: Repository) => unknown]>([
    ['has one branch', 0, () => undefined],
    [
      'is a new clone',
      0,
      (git) => {
        git('update-ref', 'refs/remotes/origin/main', 'HEAD');
        git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
        git('tag', 'now');
      },
    ],
    [
      'has packed references to its commit',
      0,
      async (git, { repoDir }) => {
        git('branch', 'other');
        git('pack-refs', '--all');
        await writeFile(join(repoDir, '.git', 'refs', 'heads', 'main'), git('rev-parse', 'HEAD'));
      },
    ],
    ['has another branch', 1, (git) => commitOn(git, 'other')],
    [
      'has another branch in its list of packed references',
      1,
      (git) => {
        commitOn(git, 'other');
        git('pack-refs', '--all');
        git('commit', '--quiet', '--allow-empty', '-m', 'Unpack');
      },
    ],
    [
      'has an older branch',
      1,
      (git) => {
        git('branch', 'old');
        git('commit', '--quiet', '--allow-empty', '-m', 'Newer');
      },
    ],
    ['has an annotated tag', 1, (git) => git('tag', '-a', 'v1', '-m', 'Version 1')],
    [
      'has a stash',
      1,
      async (git, { repoDir }) => {
        await writeFile(join(repoDir, 'a.txt'), 'stashed');
        git('stash');
      },
    ],
    ['has many branches', 1, (git) => Array.from({ length: 40 }, (_, index) => git('branch', `b${index}`))],
  ])('knows the same other commits as git if its repository %s (git processes: %i)', async (_, calls, prepare) => {
    const repository = await makeRepository();
    const { repoDir, root, git } = repository;
    await runGit(repoDir, ['--version']);
    await prepare(git, repository);
    const listed = git('for-each-ref', '--format=%(objectname)%0a%(*objectname)', '--no-merged=HEAD');
    const countCalls = await countGit(root);
    const { otherTips } = await readStart(repoDir);
    expect(otherTips.toSorted()).toEqual([...new Set(listed.split('\n').filter(Boolean))].toSorted());
    expect(await countCalls()).toBe(calls);
  });
});

function commitOn(git: Repository['git'], branch: string): void {
  git('checkout', '--quiet', '-b', branch);
  git('commit', '--quiet', '--allow-empty', '-m', 'Other');
  git('checkout', '--quiet', 'main');
}

describe('a worktree', () => {
  it('needs only three git processes, because an order waits for each', async () => {
    const { worktree, root, repoDir } = await makeRepository();
    // A process's first call also reads the user's trusted folders.
    await runGit(repoDir, ['--version']);
    const countCalls = await countGit(root);
    expect(await createWorktree(worktree)).toEqual({});
    expect(await countCalls()).toBe(3);
  });

  it('needs few git processes from the start of an order to the proof of its changes', async () => {
    const { worktree, root, repoDir, git } = await makeRepository();
    await runGit(repoDir, ['--version']);
    const countCalls = await countGit(root);
    const counts: number[] = [];
    const start = await readStart(repoDir);
    counts.push(await countCalls());
    expect(await createWorktree(worktree, start)).toEqual({});
    counts.push(await countCalls());
    await writeFile(join(worktree.folder, 'a.txt'), 'other\n');
    const order = { worker: 'w', run_id: 'r', issue_ref: 'local#1' };
    const result = { status: 'ok', summary: 'Done.', issue_ref: 'local#1', run_id: 'r', changes: {} } as WorkResult;
    const left = await commitLeftovers({ start, worktree, order, result, maskText: (text) => text });
    if (left.state !== 'committed') throw new Error(left.state);
    counts.push(await countCalls());
    const { head: base } = start;
    const facts = await examineCommit(start, { commit: left.commit, base, from: base, made: left.made });
    counts.push(await countCalls());
    expect(await removeWorktree(worktree, { isCommitted: true, start })).toEqual({});
    counts.push(await countCalls());
    expect(counts.map((count, index) => count - (counts[index - 1] ?? 0))).toEqual([0, 1, 9, 5, 0]);
    expect(existsSync(worktree.folder)).toBe(false);
    expect(git('worktree', 'list').trim().split('\n')).toHaveLength(1);
    expect(facts).toMatchObject({
      found: 'change',
      change: { commits: 1, lines: 2, authors: ['sluice'], isBackdated: false, madeBySluice: true },
    });
    // The same findings as for a commit that Sluice did not make, apart from who made it.
    const claimed = await examineCommit(start, { commit: left.commit, base, from: base });
    expect(claimed).toEqual({ ...facts, change: { ...('change' in facts ? facts.change : {}), madeBySluice: false } });
  });

  it('is created again if an earlier attempt left it, or only its registration', async () => {
    const { worktree } = await makeRepository();
    await createWorktree(worktree);
    expect(await createWorktree(worktree)).toEqual({});
    await rm(worktree.folder, { recursive: true });
    expect(await createWorktree(worktree)).toEqual({});
    expect(await readFile(join(worktree.folder, 'a.txt'), 'utf8')).toBe('one\n');
  });

  it.each([true, false])(
    'is clean when created, and is removed if still clean; its commits stay on the branch (known repository: %s)',
    async (isKnown) => {
      const { worktree, git, repoDir } = await makeRepository();
      const start = isKnown ? await readStart(repoDir) : undefined;
      await createWorktree(worktree, start);
      const inside = (...args: readonly string[]) =>
        execFileSync('git', ['-C', worktree.folder, ...IDENTITY, ...args], { encoding: 'utf8' });
      expect(inside('status', '--porcelain')).toBe('');
      expect(inside('branch', '--show-current').trim()).toBe(worktree.branch);
      await writeFile(join(worktree.folder, 'b.txt'), 'new\n');
      inside('add', '.');
      inside('commit', '--quiet', '-m', 'Work');
      const commit = inside('rev-parse', 'HEAD').trim();
      expect(await removeWorktree(worktree, { start })).toEqual({});
      expect(git('rev-parse', worktree.branch).trim()).toBe(commit);
    },
  );

  it.each([true, false])(
    'that cannot be removed is reported, and not as changed (known repository: %s)',
    async (isKnown) => {
      const { worktree, git, repoDir } = await makeRepository();
      const start = isKnown ? await readStart(repoDir) : undefined;
      await createWorktree(worktree, start);
      git('worktree', 'lock', worktree.folder);
      expect(await removeWorktree(worktree, { start })).toEqual({
        note: `Its worktree "${worktree.folder}" could not be removed.`,
      });
      git('worktree', 'unlock', worktree.folder);
      expect(await removeWorktree(worktree, { start })).toEqual({});
    },
  );

  it.each([true, false])(
    'with only ignored files is removed, and so is its branch without commits (known repository: %s)',
    async (isKnown) => {
      const { worktree, git, repoDir } = await makeRepository();
      await appendFile(join(repoDir, '.git', 'info', 'exclude'), 'cache/\n');
      const start = isKnown ? await readStart(repoDir) : undefined;
      await createWorktree(worktree, start);
      await mkdir(join(worktree.folder, 'cache'));
      await writeFile(join(worktree.folder, 'cache', 'x'), '');
      expect(await removeWorktree(worktree, { start })).toEqual({});
      expect(git('branch', '--list', worktree.branch)).toBe('');
    },
  );

  it('that was not changed needs two git processes from its creation to its removal', async () => {
    const { worktree, root, repoDir, git } = await makeRepository();
    const start = await readStart(repoDir);
    // The submodules of a commit are listed once.
    await createWorktree(worktree, start);
    await removeWorktree(worktree, { start });
    const countCalls = await countGit(root);
    expect(await createWorktree(worktree, start)).toEqual({});
    expect(await countCalls()).toBe(1);
    expect(git('fsck', '--strict')).toBe('');
    const before = await countCalls();
    expect(await removeWorktree(worktree, { start })).toEqual({});
    expect((await countCalls()) - before).toBe(1);
    expect(git('for-each-ref', '--format=%(refname)').trim()).toBe('refs/heads/main');
    expect(git('worktree', 'list', '--porcelain')).not.toContain(worktree.folder);
  });

  it('has the files that git writes, apart from logs', async () => {
    const { worktree, root, repoDir } = await makeRepository();
    const start = await readStart(repoDir);
    const other = { repoDir, folder: join(root, 'worktrees', 'two'), branch: 'sluice/two' };
    expect(await createWorktree(worktree, start)).toEqual({});
    expect(await createWorktree(other)).toEqual({});
    const read = async (name: string) =>
      Promise.all(
        ['gitdir', 'commondir', 'HEAD', `../../refs/heads/sluice/${name}`].map(async (file) =>
          readFile(join(repoDir, '.git', 'worktrees', name, file), 'utf8'),
        ),
      );
    expect((await read('one')).map((text) => text.replace('one', 'two'))).toEqual(await read('two'));
  });

  it.each<readonly [string, (repository: Repository) => unknown]>([
    ['includes another configuration', ({ git }) => git('config', 'include.path', '/none')],
    ['is shared by a group', ({ git }) => git('config', 'core.sharedRepository', 'group')],
    ['has settings for each worktree', ({ git }) => git('config', 'extensions.worktreeConfig', 'true')],
    [
      'has the branch in its list of packed references',
      async ({ git }) => {
        git('branch', 'sluice/one', 'HEAD');
        git('pack-refs', '--all');
        git('update-ref', 'refs/heads/main', git('rev-parse', 'HEAD').trim());
      },
    ],
    ['has a branch in the place of the folder of branches', ({ git }) => git('branch', 'sluice')],
    [
      'has a lock of the branch',
      async ({ repoDir }) => {
        await mkdir(join(repoDir, '.git', 'refs', 'heads', 'sluice'));
        await writeFile(join(repoDir, '.git', 'refs', 'heads', 'sluice', 'one.lock'), '');
      },
    ],
  ])('is left to git if its repository %s', async (_, prepare) => {
    const repository = await makeRepository();
    const { worktree, root, repoDir } = repository;
    await prepare(repository);
    const start = await readStart(repoDir);
    const countCalls = await countGit(root);
    await createWorktree(worktree, start);
    expect(await readFile(join(root, 'calls'), 'utf8')).toContain('worktree add');
    expect(await countCalls()).toBeGreaterThan(1);
  });

  it('keeps its branch if somebody has checked it out in the repository', async () => {
    const { worktree, repoDir, git } = await makeRepository();
    const start = await readStart(repoDir);
    await createWorktree(worktree, start);
    git('checkout', '--quiet', '--ignore-other-worktrees', worktree.branch);
    expect(await removeWorktree(worktree, { start })).toEqual({});
    expect(git('rev-parse', 'HEAD').trim()).toBe(start.head);
  });

  it('is compared with the commit that is checked out, even if the agent has switched branches', async () => {
    const { worktree, repoDir } = await makeRepository();
    const start = await readStart(repoDir);
    await createWorktree(worktree, start);
    const inside = (...args: readonly string[]) => execFileSync('git', ['-C', worktree.folder, ...IDENTITY, ...args]);
    inside('checkout', '--quiet', '-b', 'other');
    inside('commit', '--quiet', '--allow-empty', '-m', 'Work');
    inside('rm', '--quiet', 'a.txt');
    expect((await removeWorktree(worktree, { start })).note).toContain('uncommitted changes');
    inside('commit', '--quiet', '-m', 'Remove');
    expect(await removeWorktree(worktree, { start })).toEqual({});
  });

  it('is removed without touching what the agent has put into its place', async () => {
    const { worktree, root, repoDir } = await makeRepository();
    const start = await readStart(repoDir);
    await createWorktree(worktree, start);
    const outside = join(root, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'kept'), '');
    const entry = join(repoDir, '.git', 'worktrees', 'one');
    await rm(entry, { recursive: true });
    await symlink(outside, entry);
    await writeFile(join(outside, 'gitdir'), `${join(worktree.folder, '.git')}\n`);
    await removeWorktree(worktree, { isCommitted: true, start });
    expect(existsSync(join(outside, 'kept'))).toBe(true);
  });

  it('cannot be created without a repository', async () => {
    const repoDir = await makeFolder({ 'a.txt': 'x' });
    const worktree = await createWorktree({ repoDir, folder: join(repoDir, 'w'), branch: 'sluice/x' });
    expect(worktree.error).toContain(`"${repoDir}" is not one`);
  });
});
