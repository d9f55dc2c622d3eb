import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Wrappers } from '../../wrappers/wrappers.js';
import { setUpWorker } from '../fixtures/set-up-worker.js';

const IDENTITY = ['-c', 'user.name=x', '-c', 'user.email=x@example.org'];

/** Sets up a worker with a repository on the branch `main`, which ignores `*.log`, and a shell script as its agent. */
async function setUpRepository(wrappers: Wrappers = {}) {
  const shell = { type: 'script', command: ['/bin/sh', '-c', 'eval "$SLUICE_INSTRUCTIONS"'], inject: 'env' } as const;
  const setup = await setUpWorker({ lead: { wrappers: { shell, ...wrappers } } });
  const repository = join(setup.data, 'repository');
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', repository, ...IDENTITY, ...args], { encoding: 'utf8' });
  await writeFile(join(repository, '.gitignore'), '*.log\n');
  git('init', '--quiet', '--initial-branch=main');
  const commitAll = () => {
    git('add', '.');
    git('commit', '--quiet', '-m', 'Begin');
  };
  const order = async (script: string, changes: Readonly<Record<string, unknown>> = {}) => {
    const submitted = await setup.submit('local#1', {}, { worker: 'shell', instructions: script, ...changes });
    const branch = `sluice/${submitted.order.run_id}-${submitted.run}`;
    return { submitted, branch, decision: (await setup.settled(submitted))?.decision };
  };
  setup.start();
  return { ...setup, repository, git, commitAll, order };
}

/** Writes a result with the current commit. */
const REPORT = `printf '{"issue_ref":"%s","run_id":"%s","status":"ok","changes":{%s},"tests":"n/a","summary":"Done."}' "$SLUICE_ISSUE_REF" "$SLUICE_RUN_ID" "$CHANGES" > "$SLUICE_RUN_DIR/work_result.json"`;
const COMMIT = `git add . && git -c user.name=a -c user.email=a@example.org commit -qm Work && CHANGES="\\"commit\\":\\"$(git rev-parse HEAD)\\""`;

describe('an order for a script', () => {
  it('works in a worktree by default: uncommitted work and the current branch stay as they are', async () => {
    const { repository, git, commitAll, order } = await setUpRepository();
    commitAll();
    await writeFile(join(repository, 'README.md'), 'unsaved');
    const before = git('rev-parse', 'main');
    const { decision, branch } = await order(`echo agent > README.md; ${REPORT}`);
    expect(decision?.action).toBe('advance');
    expect(await readFile(join(repository, 'README.md'), 'utf8')).toBe('unsaved');
    expect([git('rev-parse', 'main'), git('symbolic-ref', '--short', 'HEAD')]).toEqual([before, 'main\n']);
    expect(git('show', `${branch}:README.md`)).toBe('agent\n');
  });

  it('works in the same subfolder of its worktree', async () => {
    const { repository, git, commitAll, order } = await setUpRepository();
    await mkdir(join(repository, 'packages/a'), { recursive: true });
    await writeFile(join(repository, 'packages/a/old.txt'), 'x');
    commitAll();
    const { decision, branch } = await order(`cp old.txt new.txt; ${REPORT}`, {
      repo_dir: join(repository, 'packages/a'),
    });
    expect(decision?.action).toBe('advance');
    expect(git('show', `${branch}:packages/a/new.txt`)).toBe('x');
  });

  it('starts the same file for a relative command with and without a worktree', async () => {
    const script = { type: 'script', command: ['../agent.sh'] };
    const interpreted = { type: 'script', command: ['sh', 'agent.log'] };
    const { data, repository, commitAll, order } = await setUpRepository({ script, interpreted });
    commitAll();
    const text = `#!/bin/sh\necho "$0" >> "${join(data, 'started')}"\n`;
    for (const path of [join(data, 'agent.sh'), join(repository, 'agent.log')]) {
      await writeFile(path, text);
      await chmod(path, 0o755);
    }
    for (const worker of ['script', 'interpreted']) {
      for (const isolation of ['worktree', 'repository']) await order('', { worker, isolation });
    }
    const [first, second, ...others] = (await readFile(join(data, 'started'), 'utf8')).trim().split('\n');
    expect(first).toBe(second);
    expect(others).toEqual([join(repository, 'agent.log'), join(repository, 'agent.log')]);
  });
});

describe('an order without a worktree', () => {
  it.each([
    ['a changed file', 'README.md'],
    ['an untracked file', 'notes.txt'],
  ])('is refused if the repository has %s, and the reason names both ways out', async (_, file) => {
    const { repository, git, commitAll, order } = await setUpRepository();
    commitAll();
    await writeFile(join(repository, file), 'unsaved');
    const { decision } = await order(`echo agent > ${file}; ${COMMIT}; ${REPORT}`, { isolation: 'repository' });
    expect(decision).toMatchObject({ action: 'needs-human', result_code: 'env_unavailable' });
    expect(decision?.reason).toContain(
      `the repository has uncommitted work ("${file}"), which an agent without a worktree could change; commit or stash it, or omit isolation to use a worktree`,
    );
    expect(await readFile(join(repository, file), 'utf8')).toBe('unsaved');
    expect(git('log', '--format=%s')).toBe('Begin\n');
  });

  it.each(['--assume-unchanged', '--skip-worktree'])(
    'is refused if the repository has a changed file that git skips because of %s',
    async (mark) => {
      const { repository, git, commitAll, order } = await setUpRepository();
      commitAll();
      git('update-index', mark, 'README.md');
      await writeFile(join(repository, 'README.md'), 'unsaved');
      const { decision } = await order(`echo agent > README.md; ${REPORT}`, { isolation: 'repository' });
      expect(decision?.reason).toContain('the repository has uncommitted work ("README.md")');
      expect(await readFile(join(repository, 'README.md'), 'utf8')).toBe('unsaved');
      expect(git('ls-files', '-v', 'README.md')).toMatch(/^[hS] /);
    },
  );

  it('is refused while a merge is in progress, although no file differs', async () => {
    const { git, commitAll, order } = await setUpRepository();
    commitAll();
    git('checkout', '--quiet', '-b', 'other');
    git('commit', '--quiet', '--allow-empty', '-m', 'Other');
    git('checkout', '--quiet', 'main');
    git('merge', '--quiet', '--no-commit', '--no-ff', 'other');
    const { decision } = await order(`${COMMIT}; ${REPORT}`, { isolation: 'repository' });
    expect(decision).toMatchObject({ action: 'needs-human', result_code: 'env_unavailable' });
    expect(decision?.reason).toContain('a merge is in progress in the repository');
    expect(git('rev-parse', 'MERGE_HEAD')).toBe(git('rev-parse', 'other'));
  });

  it('is refused in a bare repository, which has no files', async () => {
    const { data, git, commitAll, order } = await setUpRepository();
    commitAll();
    git('clone', '--quiet', '--bare', '.', join(data, 'bare.git'));
    const changes = { isolation: 'repository', repo_dir: join(data, 'bare.git') };
    const { decision } = await order(REPORT, changes);
    expect(decision?.reason).toContain('repo_dir is a bare repository, which has no files to work on');
    expect(existsSync(join(data, 'bare.git', 'work_result.json'))).toBe(false);
  });

  it('can use files that git ignores, and commits on its own branch', async () => {
    const { repository, git, commitAll, order } = await setUpRepository();
    commitAll();
    await writeFile(join(repository, 'own.log'), 'x');
    const script = `cp own.log work.txt; ${COMMIT}; ${REPORT}`;
    const { decision, branch } = await order(script, { isolation: 'repository' });
    expect(decision?.action).toBe('advance');
    expect(git('symbolic-ref', '--short', 'HEAD')).toBe('main\n');
    expect(git('log', '--format=%s', 'main')).toBe('Begin\n');
    expect(git('log', '--format=%s', branch)).toBe('Work\nBegin\n');
    expect([existsSync(join(repository, 'work.txt')), git('status', '--porcelain')]).toEqual([false, '']);
  });

  it.each([
    ['commits', `echo x > a.txt; ${COMMIT}`],
    ['changes nothing', ':'],
  ])('goes back to the commit that was checked out without a branch, if the agent %s', async (_, work) => {
    const { repository, git, commitAll, order } = await setUpRepository();
    commitAll();
    const first = git('rev-parse', 'HEAD').trim();
    git('commit', '--quiet', '--allow-empty', '-m', 'Later');
    git('checkout', '--quiet', '--detach', first);
    const { decision, branch } = await order(`echo x > a.log; ${work}; ${REPORT}`, {
      isolation: 'repository',
    });
    expect(decision?.reason ?? '').not.toContain('still on the branch');
    expect(await readFile(join(repository, '.git/HEAD'), 'utf8')).toBe(`${first}\n`);
    expect(git('status', '--porcelain')).toBe('');
    expect(git('log', '--format=%s', 'main')).toBe('Later\nBegin\n');
    expect(git('branch', '--list', branch).trim()).toBe(work === ':' ? '' : branch);
  });

  it.each([
    ['detached', 'git checkout --quiet --detach', 'Work\n'],
    ['on another branch', 'git checkout --quiet -b other', ''],
  ])("goes back to the person's branch if the agent leaves the repository %s", async (_, command, log) => {
    const { repository, git, commitAll, order } = await setUpRepository();
    commitAll();
    const script = `${command}; echo x > a.txt; ${COMMIT}; ${REPORT}`;
    const { branch } = await order(script, { isolation: 'repository' });
    expect(await readFile(join(repository, '.git/HEAD'), 'utf8')).toBe('ref: refs/heads/main\n');
    expect(git('status', '--porcelain')).toBe('');
    expect(git('log', '--format=%s', 'main')).toBe('Begin\n');
    // No commit is lost.
    expect(git('log', '--format=%s', '--branches')).toContain('Work');
    expect(git('for-each-ref', '--format=%(contents:subject)', `refs/heads/${branch}`)).toBe(log);
  });

  it('stays where the agent left it if going back could lose a commit, and the reason says so', async () => {
    const { repository, git, commitAll, order } = await setUpRepository();
    commitAll();
    const script = `echo x > a.txt; ${COMMIT}; git checkout --quiet --detach HEAD~1; echo y > b.txt; ${COMMIT}; ${REPORT}`;
    const { decision } = await order(script, { isolation: 'repository' });
    expect(decision?.reason).toContain(`The repository "${repository}" is still on the commit`);
    expect(git('log', '--format=%s', 'HEAD')).toBe('Work\nBegin\n');
  });

  it('works in a linked worktree, where its agent can commit', async () => {
    const { data, git, commitAll, order } = await setUpRepository();
    commitAll();
    const linked = join(data, 'linked');
    git('worktree', 'add', '--quiet', '-b', 'side', linked);
    const script = `echo x > work.txt; ${COMMIT}; ${REPORT}`;
    const { decision, branch } = await order(script, { isolation: 'repository', repo_dir: linked });
    expect(decision).toMatchObject({ action: 'advance' });
    expect(git('log', '--format=%s', branch)).toBe('Work\nBegin\n');
    expect(await readFile(join(data, 'repository/.git/worktrees/linked/HEAD'), 'utf8')).toBe('ref: refs/heads/side\n');
    expect(git('symbolic-ref', '--short', 'HEAD')).toBe('main\n');
  });

  it('stays on its own branch if it leaves uncommitted work, and the reason says so', async () => {
    const { repository, git, commitAll, order } = await setUpRepository();
    commitAll();
    const { decision, branch } = await order(`echo x > left.txt; ${REPORT}`, { isolation: 'repository' });
    expect(decision?.reason).toContain(
      `The repository "${repository}" is still on the branch ${branch}; it was on main.`,
    );
    expect(git('symbolic-ref', '--short', 'HEAD')).toBe(`${branch}\n`);
    expect(existsSync(join(repository, 'left.txt'))).toBe(true);
  });

  it('commits on the current branch only if the order asks for it', async () => {
    const { git, commitAll, order } = await setUpRepository();
    commitAll();
    const { decision } = await order(`echo x > a.txt; ${COMMIT}; ${REPORT}`, { isolation: 'current-branch' });
    expect(decision?.action).toBe('advance');
    expect(git('log', '--format=%s', 'main')).toBe('Work\nBegin\n');
    expect(git('branch', '--list', 'sluice/*')).toBe('');
  });
});

it.each(['worktree', 'repository', 'current-branch', undefined])(
  'a repository without a commit is refused, and the reason names both ways out (isolation %s)',
  async (isolation) => {
    const { order, repository } = await setUpRepository();
    const { decision } = await order(`echo agent > README.md; ${REPORT}`, isolation === undefined ? {} : { isolation });
    expect(decision).toMatchObject({ action: 'needs-human', result_code: 'env_unavailable' });
    expect(decision?.reason).toContain('has no commit to start from; commit its files');
    expect(decision?.reason).toContain('or use a folder without git');
    expect(await readFile(join(repository, 'README.md'), 'utf8')).toBe('x');
  },
);

it.each([
  ['a folder without git', 'plain', 'repo_dir is not a git repository'],
  ['a folder that its repository ignores', 'repository/build.log', 'its repository ignores repo_dir'],
])('%s is used itself, and the evidence says so', async (_, path, why) => {
  const { data, commitAll, order } = await setUpRepository();
  commitAll();
  const folder = join(data, path);
  await mkdir(folder);
  const script = `echo x > made.txt; CHANGES='"pr":"#1"'; ${REPORT}`;
  const { decision } = await order(script, { repo_dir: folder });
  expect(decision?.action).toBe('advance');
  expect(existsSync(join(folder, 'made.txt'))).toBe(true);
  const detail = `Not checked: ${why}; the agent worked in the folder itself.`;
  expect(decision?.evidence).toContainEqual({ claim: 'commit', by: 'sluice', verdict: 'unchecked', detail });
});

it.each([
  ['dies without a result', 'exit 3'],
  ['is blocked', REPORT.replace('"ok"', '"blocked"')],
  ['only reports', REPORT],
])('work that an agent left uncommitted when it %s is on a branch that the reason names', async (how, end) => {
  const { data, git, commitAll, order } = await setUpRepository();
  commitAll();
  const expects = how === 'only reports' ? { expects: 'report' } : {};
  const { decision, branch, submitted } = await order(`echo work > unsaved.txt; ${end}`, expects);
  expect(decision?.reason).toContain(
    `Its uncommitted work is in commit ${git('rev-parse', branch).slice(0, 12)} on the branch ${branch}.`,
  );
  expect(git('show', `${branch}:unsaved.txt`)).toBe('work\n');
  expect(existsSync(join(data, 'worktrees', submitted.run))).toBe(false);
});

it('work that an agent hid from git is kept as well', async () => {
  const { git, commitAll, order } = await setUpRepository();
  commitAll();
  const { branch } = await order('git update-index --assume-unchanged README.md; echo work > README.md; exit 3');
  expect(git('show', `${branch}:README.md`)).toBe('work\n');
});
