import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import type { OrderRecord } from '../../store/records/order-record.js';
import { createWorktree, getWorktree } from './worktree.js';
import { readChange } from './read-change.js';

const IDENTITY = ['-c', 'user.name=x', '-c', 'user.email=x@example.org'];
const RUN = '01K0000000000000000000RUN1';

/** Creates a repository with two files, an order's worktree in it, and the order's record. */
async function startOrder() {
  const root = await makeFolder({ 'repository/a.txt': 'one\ntwo\nthree\n', 'repository/gone.txt': 'x\n' });
  const repoDir = join(root, 'repository');
  const data = join(root, 'data');
  const gitIn =
    (folder: string) =>
    (...args: readonly string[]) =>
      execFileSync('git', ['-C', folder, ...IDENTITY, ...args], { encoding: 'utf8' }).trim();
  const git = gitIn(repoDir);
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('commit', '--quiet', '-m', 'Begin');
  const order = {
    issue_ref: 'local#1',
    run_id: '2026-11-15-qa-0001',
    role: 'qa',
    repo_dir: repoDir,
    worker: 'codex-cli',
    instructions: '',
  };
  const at = '2026-11-15T00:00:00.000Z';
  const record: OrderRecord = {
    order,
    run: RUN,
    worker_type: 'codex-cli',
    state: 'settled',
    base_commit: git('rev-parse', 'HEAD'),
    created_at: at,
    started_at: at,
    settled_at: at,
    decision: null,
    result: null,
  };
  const worktree = getWorktree(data, order, RUN);
  expect(await createWorktree(worktree)).toEqual({});
  const read = async (changes: Partial<OrderRecord> = {}) =>
    readChange({ data, maskText: (text) => text.replaceAll('hunter2', '*******') }, { ...record, ...changes });
  return { root, repoDir, data, git, gitInWorktree: gitIn(worktree.folder), worktree, record, read };
}

describe("an order's change", () => {
  it('shows uncommitted work in a worktree: modified, new and deleted files', async () => {
    const { worktree, read, record } = await startOrder();
    await writeFile(join(worktree.folder, 'a.txt'), 'one\nTWO\nthree\n');
    await writeFile(join(worktree.folder, 'new.txt'), 'fresh\n');
    await rm(join(worktree.folder, 'gone.txt'));
    const change = await read();
    expect(change).toMatchObject({ source: 'worktree', commit: null, base_commit: record.base_commit });
    expect(change.files.map(({ path, change: kind, added, removed }) => [path, kind, added, removed])).toEqual([
      ['a.txt', 'modified', 1, 1],
      ['gone.txt', 'deleted', 0, 1],
      ['new.txt', 'added', 1, 0],
    ]);
    expect(change.files[0]?.hunks[0]?.lines[1]).toEqual({ kind: 'removed', old_line: 2, new_line: null, text: 'two' });
  });

  it('includes what was committed in the worktree, and changes neither its index nor the repository', async () => {
    const { worktree, gitInWorktree, git, read } = await startOrder();
    await writeFile(join(worktree.folder, 'a.txt'), 'committed\n');
    gitInWorktree('commit', '--quiet', '-am', 'Work');
    await writeFile(join(worktree.folder, 'left.txt'), 'not committed\n');
    const before = [gitInWorktree('status', '--porcelain'), git('count-objects')];
    expect((await read()).files.map(({ path }) => path)).toEqual(['a.txt', 'left.txt']);
    expect([gitInWorktree('status', '--porcelain'), git('count-objects')]).toEqual(before);
  });

  it('comes from the commit if the worktree is gone: found by its branch, or else by the result', async () => {
    const { worktree, gitInWorktree, git, read } = await startOrder();
    await rename(join(worktree.folder, 'a.txt'), join(worktree.folder, 'b.txt'));
    gitInWorktree('add', '--all');
    gitInWorktree('commit', '--quiet', '-m', 'Work');
    const commit = gitInWorktree('rev-parse', 'HEAD');
    git('worktree', 'remove', '--force', worktree.folder);
    const renamed = [{ path: 'b.txt', old_path: 'a.txt', change: 'renamed', added: 0, removed: 0 }];
    expect(await read()).toMatchObject({ source: 'commit', commit, files: renamed });
    git('branch', '--quiet', '-D', worktree.branch);
    expect(await read()).toMatchObject({ source: 'none', files: [], why: expect.stringContaining('Nothing was') });
    const result = { changes: { commit: commit.slice(0, 10) } } as OrderRecord['result'];
    expect(await read({ result })).toMatchObject({ source: 'commit', commit, files: renamed });
  });

  it('is the confirmed commit, wherever a process that the agent left moves the branch', async () => {
    const { worktree, gitInWorktree, git, record, read } = await startOrder();
    await writeFile(join(worktree.folder, 'a.txt'), 'checked\n');
    gitInWorktree('commit', '--quiet', '-am', 'Work');
    const commit = gitInWorktree('rev-parse', 'HEAD');
    await writeFile(join(worktree.folder, 'a.txt'), 'other\n');
    gitInWorktree('commit', '--quiet', '-am', 'More');
    git('worktree', 'remove', '--force', worktree.folder);
    const evidence = [{ claim: 'commit', by: 'sluice', verdict: 'confirmed', detail: '' }];
    const decision = { ...record.decision, evidence } as OrderRecord['decision'];
    const result = { changes: { commit } } as OrderRecord['result'];
    expect(await read({ decision, result })).toMatchObject({ source: 'commit', commit });
  });

  it('shows unusual file names correctly', async () => {
    const { worktree, read } = await startOrder();
    const names = ['"quoted".txt', '-option', 'diff --git a b', 'line\nbreak', 'tab\there', 'ü <b>.txt'];
    for (const name of names) await writeFile(join(worktree.folder, name), `+++ b/${name}\n@@ -1 +1 @@\n`);
    const { files } = await read();
    expect(files.map(({ path }) => path).sort()).toEqual([...names].sort());
    expect(files.every(({ change, removed }) => change === 'added' && removed === 0)).toBe(true);
  });

  it('shows text files that are declared binary, and masks secrets', async () => {
    const { worktree, read } = await startOrder();
    await writeFile(join(worktree.folder, '.gitattributes'), '* binary -diff\n');
    await writeFile(join(worktree.folder, 'key.txt'), 'hunter2\n');
    await writeFile(join(worktree.folder, 'data'), Buffer.from([0, 1, 2, 10, 0]));
    const { files } = await read();
    expect(files.find(({ path }) => path === 'key.txt')?.hunks[0]?.lines).toMatchObject([{ text: '*******' }]);
    expect(files.find(({ path }) => path === 'data')).toMatchObject({ binary: true, hunks: [] });
  });

  it('runs no command that the repository or the worktree configures', async () => {
    const { root, worktree, repoDir, git, read } = await startOrder();
    const trace = join(root, 'was-run');
    const trap = join(root, 'trap.sh');
    await writeFile(trap, `#!/bin/sh\ntouch '${trace}'\ncat\n`);
    await chmod(trap, 0o755);
    for (const key of ['filter.t.clean', 'filter.t.smudge', 'diff.t.command', 'diff.t.textconv', 'core.fsmonitor']) {
      git('config', key, trap);
    }
    await writeFile(join(repoDir, '.git/info/attributes'), '* filter=t diff=t\n');
    await writeFile(join(worktree.folder, '.gitattributes'), '* filter=t diff=t\n');
    expect((await read()).files.map(({ path }) => path)).toEqual(['.gitattributes']);
    expect(existsSync(trace)).toBe(false);
  });

  it('is bounded', async () => {
    const { worktree, read } = await startOrder();
    for (let count = 0; count < 320; count++) await writeFile(join(worktree.folder, `n${count}`), 'x\n');
    await writeFile(join(worktree.folder, 'a.txt'), 'x\n'.repeat(5000));
    const { files, truncated } = await read();
    expect([files.length, truncated]).toEqual([300, true]);
    expect(files[0]).toMatchObject({ path: 'a.txt', added: 5000, truncated: true });
    expect(files[0]?.hunks.flatMap(({ lines }) => lines)).toHaveLength(2000);
  });

  it('is missing without a repository, before the start, and for a worktree that is a link', async () => {
    const { root, worktree, read, record } = await startOrder();
    expect((await read({ base_commit: null })).why).toBe("The order's folder is not a git repository.");
    expect((await read({ base_commit: null, started_at: null })).why).toBe('The work has not started.');
    await mkdir(join(root, 'elsewhere'));
    await writeFile(join(root, 'elsewhere/secret'), 'x');
    await rm(worktree.folder, { recursive: true });
    await symlink(join(root, 'elsewhere'), worktree.folder);
    // Only the order's branch remains, without commits.
    expect(await read()).toMatchObject({ source: 'commit', commit: record.base_commit, files: [] });
    const orderWithoutRepository = { ...record.order, repo_dir: join(root, 'nowhere') };
    expect((await read({ order: orderWithoutRepository })).source).toBe('none');
    expect(await readFile(join(root, 'elsewhere/secret'), 'utf8')).toBe('x');
  });
});
