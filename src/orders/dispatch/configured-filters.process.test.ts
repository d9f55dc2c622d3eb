import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { readGitFilters } from '../git/git-filters.js';
import { setUpWorker } from './fixtures/set-up-worker.js';
import { checkOut } from '../git/check-out.js';
import { recordStart } from '../git/repository.js';
import { createWorktree, getWorktree, removeWorktree } from '../git/worktree.js';
import { readChange } from '../git/read-change.js';

/** A filter: lower case in commits, upper case in work trees. It records its folder and environment. */
function upper(markerFolder: string): string {
  const filter = (kind: string, from: string, to: string) =>
    `\t${kind} = env > '${markerFolder}/${kind}' && tr ${from} ${to}\n`;
  return `[filter "upper"]\n${filter('smudge', 'a-z', 'A-Z')}${filter('clean', 'A-Z', 'a-z')}\trequired\n`;
}

/** A filter that stores files in a folder by their hash, as Git LFS does, and trusts the names there. */
function store(folder: string): string {
  const clean = `cat > ${folder}/new && h=$(sha1sum < ${folder}/new | cut -c1-40) && mv ${folder}/new ${folder}/$h && echo $h`;
  const smudge = `cat > ${folder}/asked && { cat ${folder}/$(head -c 40 ${folder}/asked) 2> /dev/null || cat ${folder}/asked; }`;
  return `[filter "store"]\n\tclean = "${clean}"\n\tsmudge = "${smudge}"\n\trequired = true\n`;
}

/**
 * Sets up a home folder whose git configuration has filters, and a worker with a repository that uses them on `*.dat`.
 */
async function openFiltered(filter: 'upper' | 'store', check = 'true') {
  const home = await makeFolder({ 'marks/x': '', 'store/x': '' });
  const markerFolder = join(home, 'marks');
  const unnamed = `[filter "unnamed"]\n\tsmudge = touch ${markerFolder}/unnamed && cat\n\tclean = touch ${markerFolder}/unnamed && cat\n`;
  await writeFile(join(home, '.gitconfig'), `${upper(markerFolder)}${store(join(home, 'store'))}${unnamed}`);
  vi.stubEnv('HOME', home);
  const filters = await readGitFilters([filter]);
  // Like an agent with a custom command: it writes a file and reports, and Sluice commits.
  const report = `printf '{"issue_ref":"%s","run_id":"%s","status":"ok","changes":{},"tests":"n/a","summary":"Done."}'`;
  const script = `eval "$SLUICE_INSTRUCTIONS"; ${report} "$SLUICE_ISSUE_REF" "$SLUICE_RUN_ID" > "$SLUICE_RUN_DIR/work_result.json"`;
  const worker = { type: 'script', command: ['/bin/sh', '-c', script], inject: 'env', checks: ['unit'] } as const;
  const checks = { unit: { command: ['sh', '-c', check] } };
  const setup = await setUpWorker({
    lead: { wrappers: { worker }, checks, filters, secrets: { patterns: ['ghp_[A-Za-z]+'] } },
  });
  const repoDir = join(setup.data, 'repository');
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', repoDir, '-c', 'user.name=x', '-c', 'user.email=x@example.org', ...args], {
      encoding: 'utf8',
      timeout: 60_000,
    });
  git('init', '--quiet', '--initial-branch=main');
  await writeFile(join(repoDir, '.gitattributes'), `*.dat filter=${filter}\n*.txt filter=unnamed\n`);
  await writeFile(join(repoDir, 'one.dat'), 'ONE\n');
  await writeFile(join(repoDir, 'plain.txt'), 'plain\n');
  git('add', '.');
  git('commit', '--quiet', '-m', 'Begin');
  const clear = () => execFileSync('sh', ['-c', `rm -f ${markerFolder}/*`]);
  clear();
  const order = async (instructions: string) => {
    setup.start();
    const request = { worker: 'worker', instructions, isolation: 'worktree' };
    return setup.settled(await setup.submit('local#1', {}, request));
  };
  const worktree = { repoDir, folder: join(setup.data, 'worktrees', 'one'), branch: 'sluice/one', filters };
  const started = () => readdirSync(markerFolder).toSorted();
  return { ...setup, home, markerFolder, filters, repoDir, git, clear, order, worktree, started };
}

beforeEach(() => {
  vi.stubEnv('SLUICE_TOKENS', 'opensesame');
  vi.stubEnv('GITHUB_TOKEN', 'opensesame');
  vi.stubEnv('XDG_CONFIG_HOME', undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe('a configured git filter', () => {
  it('runs when a worktree is created, when its files are committed and for checks, without secrets', async () => {
    const check = 'test "$(cat one.dat two.dat plain.txt)" = "$(printf "ONE\\nTWO\\nplain")"';
    const { order, git, markerFolder, started } = await openFiltered('upper', check);
    const record = await order('test "$(cat one.dat)" = ONE && echo TWO > two.dat');
    expect(record?.decision).toMatchObject({ action: 'advance' });
    const commit = record?.result?.changes.commit ?? '';
    expect(git('show', '--format=', '--name-status', commit).trim()).toBe('A\ttwo.dat');
    expect(git('cat-file', 'blob', `${commit}:two.dat`)).toBe('two\n');
    expect(started()).toEqual(['clean', 'smudge']);
    for (const marker of started())
      expect(readFileSync(join(markerFolder, marker), 'utf8')).not.toMatch(/opensesame|SLUICE_/);
  });

  it('finds nothing to commit in files that only look different in a worktree', async () => {
    const { order, git, data } = await openFiltered('upper');
    const record = await order('touch one.dat');
    expect(record?.result?.changes.commit).toBeUndefined();
    expect(git('branch', '--list', 'sluice/*')).toBe('');
    expect(existsSync(join(data, 'worktrees', record?.run ?? ''))).toBe(false);
  });

  it('is applied when an uncommitted change is shown', async () => {
    const { order, data, filters } = await openFiltered('upper');
    const record = await order('echo TWO > two.dat; echo ghp_abc > key.dat');
    if (record === undefined) throw new Error('no record');
    const { source, files } = await readChange({ data, maskText: (text) => text, filters }, record);
    expect(source).toBe('worktree');
    expect(files.map(({ path }) => path)).toEqual(['key.dat', 'two.dat']);
  });

  it.each<readonly [string, (repository: Awaited<ReturnType<typeof openFiltered>>, trap: string) => Promise<void>]>([
    ['its configuration', async ({ git }, trap) => void git('config', 'filter.upper.smudge', trap)],
    ['a process for it', async ({ git }, trap) => void git('config', 'filter.upper.process', trap)],
    [
      'a file it includes',
      async ({ git, home }, trap) => {
        await writeFile(join(home, 'more'), `[filter "upper"]\n\tsmudge = ${trap}\n\tclean = ${trap}\n`);
        git('config', 'include.path', join(home, 'more'));
      },
    ],
    [
      'the configuration of worktrees',
      async ({ git }, trap) => {
        git('config', 'extensions.worktreeConfig', 'true');
        git('config', '--worktree', 'filter.upper.clean', trap);
      },
    ],
    [
      'other attributes',
      async ({ git, repoDir }, trap) => {
        git('config', 'filter.evil.smudge', trap);
        await appendFile(join(repoDir, '.git', 'info', 'attributes'), '* filter=evil\n');
      },
    ],
  ])("runs the user's command if the repository names another command in %s", async (_, prepare) => {
    const repository = await openFiltered('upper');
    const { worktree, started, clear, markerFolder } = repository;
    await prepare(repository, `touch ${markerFolder}/evil && cat`);
    clear();
    expect(await createWorktree(worktree)).toEqual({});
    expect(readFileSync(join(worktree.folder, 'one.dat'), 'utf8')).toBe('ONE\n');
    await writeFile(join(worktree.folder, 'one.dat'), 'ANOTHER\n');
    expect((await removeWorktree(worktree)).note).toContain('uncommitted changes');
    await writeFile(join(worktree.folder, 'one.dat'), 'ONE\n');
    expect(await removeWorktree(worktree)).toEqual({});
    expect(started()).toEqual(['clean', 'smudge']);
  });

  it('does not run if it is not configured', async () => {
    const { data, repoDir, worktree, started } = await openFiltered('upper');
    const order = { repo_dir: repoDir, run_id: '20260101-qa-01' } as const;
    expect(await createWorktree(getWorktree(data, order, 'one'))).toEqual({});
    expect(readFileSync(join(worktree.folder, 'one.dat'), 'utf8')).toBe('one\n');
    expect(started()).toEqual([]);
  });

  it('does not hide a secret from the search before a commit', async () => {
    const { order, git } = await openFiltered('store');
    const record = await order('echo "key = ghp_abcdefghijklmnop" > key.dat');
    expect(record?.decision?.action).toBe('needs-human');
    expect(JSON.stringify(record?.decision?.evidence)).toContain('it contains a secret');
    expect(git('log', '--all', '--format=%s').trim()).toBe('Begin');
  });

  it("lets checks use only the commit's content: content that was replaced in its store is rejected", async () => {
    const { home, git, data, repoDir, filters } = await openFiltered('store');
    // A file that was committed without the filter is the same in both forms.
    await writeFile(join(repoDir, 'unfiltered.dat'), 'not stored\n');
    git('-c', 'filter.store.clean=cat', 'add', 'unfiltered.dat');
    git('commit', '--quiet', '-m', 'Unfiltered');
    const start = await recordStart(repoDir);
    if ('why' in start) throw new Error(start.why);
    const folder = join(data, 'check');
    expect(await checkOut(start, { commit: start.head }, folder, filters)).toEqual({});
    expect(readFileSync(join(folder, 'one.dat'), 'utf8')).toBe('ONE\n');
    expect(readFileSync(join(folder, 'unfiltered.dat'), 'utf8')).toBe('not stored\n');
    await writeFile(join(home, 'store', git('cat-file', 'blob', 'HEAD:one.dat').trim()), 'FORGED\n');
    expect((await checkOut(start, { commit: start.head }, folder, filters)).error).toContain(
      '"one.dat" differs from the commit',
    );
  });

  it('reports that it failed, not that a file differs, if it cannot convert a file back', async () => {
    const { data, repoDir, filters } = await openFiltered('store');
    const start = await recordStart(repoDir);
    if ('why' in start) throw new Error(start.why);
    const { error } = await checkOut(start, { commit: start.head }, join(data, 'check'), {
      ...filters,
      'filter.store.clean': 'false',
    });
    expect(error).toContain('could not be compared with the commit');
    expect(error).not.toContain('differs');
  });
});
