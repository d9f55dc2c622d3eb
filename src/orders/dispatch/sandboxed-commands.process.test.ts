import { execFileSync } from 'node:child_process';
import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { canSandbox } from '../../runs/scenarios/fixtures/make-sandbox-site.js';
import { setUpWorker } from './fixtures/set-up-worker.js';

const READ = ['sh', '-c', 'cat "$@" 2>/dev/null; true', 'sh'] as const;

/** Creates a repository with one commit on the branch `main`. */
function createGit(repository: string) {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', repository, '-c', 'user.name=x', '-c', 'user.email=x@y', ...args], { encoding: 'utf8' });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('commit', '--quiet', '-m', 'Begin');
  return git;
}

/** Commits a file and reports it. Its content names the order: two equal commits in one second are one commit. */
const COMMIT = `echo "$SLUICE_ISSUE_REF $SLUICE_RUN_ID" > a.txt; git add .; git -c user.name=a -c user.email=a@b commit -qm Work || echo refused
  printf '{"issue_ref":"%s","run_id":"%s","status":"ok","changes":{"commit":"%s"},"tests":"n/a","summary":"Done."}' "$SLUICE_ISSUE_REF" "$SLUICE_RUN_ID" "$(git rev-parse HEAD)" > "$SLUICE_RUN_DIR/work_result.json"`;

describe.runIf(canSandbox)('the sandbox of a worker', () => {
  it('shows a queued run no file outside `roots`, whatever its arguments name', async () => {
    const { data, store, start } = await setUpWorker();
    const outside = await makeFolder({ 'secret.txt': 'the secret' });
    const command = [...READ, join(outside, 'secret.txt'), join(data, 'sluice.db')];
    await writeFile(join(data, 'sluice.db'), 'the database');
    const spec = { engine: 'command', command, workdir: join(data, 'repository'), sandbox: 'required' } as const;
    const run = async (id: string) => {
      await store.createRun({ id, spec, state: 'queued', now: store.now() });
      await expect.poll(async () => (await store.findRun(id))?.state).toBe('ended');
      return (await store.findRun(id))?.result;
    };
    const worker = start();
    expect(await run('r1')).toMatchObject({ status: 'success', sandbox: { used: true } });
    expect((await run('r2'))?.text).toBeUndefined();
    await worker.stop();
    start({ runs: { data, sandbox: { roots: [outside] } } });
    expect((await run('r3'))?.text).toBe('the secret');
  });

  it('starts no queued run whose folder was replaced by a link out of `roots` since it was requested', async () => {
    const { data, store, start } = await setUpWorker();
    const outside = await makeFolder({ 'secret.txt': 'the secret' });
    const roots = await makeFolder({ 'other/secret.txt': 'of the root' });
    const run = async (id: string, target: string) => {
      await rm(join(roots, 'work'), { force: true });
      await symlink(target, join(roots, 'work'));
      const spec = { engine: 'command', command: ['cat', 'secret.txt'], workdir: join(roots, 'work') } as const;
      await store.createRun({ id, spec, state: 'queued', now: store.now() });
      await expect.poll(async () => (await store.findRun(id))?.state).toBe('ended');
      return (await store.findRun(id))?.result;
    };
    start({ runs: { data, sandbox: { roots: [roots] } } });
    const refused = await run('r1', outside);
    expect(refused).toMatchObject({ status: 'failed' });
    expect(refused?.error?.message).toContain('was replaced by a link');
    expect(await run('r2', join(roots, 'other'))).toMatchObject({ status: 'success', text: 'of the root' });
  });

  it('goes back to the branch or commit of the person after an agent committed in the repository', async () => {
    const shell = { type: 'script', command: ['/bin/sh', '-c', COMMIT], sandbox: 'required' } as const;
    const { data, start, submit, settled } = await setUpWorker({ lead: { wrappers: { shell } } });
    const repository = join(data, 'repository');
    const git = createGit(repository);
    start();
    for (const detach of [false, true]) {
      if (detach) git('checkout', '--quiet', '--detach');
      const before = await readFile(join(repository, '.git/HEAD'), 'utf8');
      const order = await submit(`local#${detach}`, {}, { worker: 'shell', isolation: 'repository' });
      expect((await settled(order))?.decision).toMatchObject({
        action: 'advance',
        reason: expect.not.stringContaining('still on'),
      });
      expect(await readFile(join(repository, '.git/HEAD'), 'utf8')).toBe(before);
      expect(git('status', '--porcelain')).toBe('');
    }
  });

  it('lets an order without a worktree commit in a linked worktree, and change nothing else of its repository', async () => {
    const shell = {
      type: 'script',
      command: ['/bin/sh', '-c', 'eval "$SLUICE_INSTRUCTIONS"'],
      inject: 'env',
      sandbox: 'required',
    } as const;
    const { data, store, start, submit, settled } = await setUpWorker({ lead: { wrappers: { shell } } });
    const repository = join(data, 'repository');
    const git = createGit(repository);
    const [linked, other] = [join(data, 'linked'), join(data, 'other')];
    for (const folder of [linked, other]) git('worktree', 'add', '--quiet', folder);
    start();
    const common = join(repository, '.git');
    const script = `${COMMIT}
      for f in config hooks/post-commit commondir config.worktree HEAD index packed-refs info/exclude worktrees/other/HEAD \
        worktrees/linked/commondir worktrees/linked/config.worktree worktrees/linked/gitdir; do
        echo evil > "${common}/$f" && echo "wrote $f"; done; mv "${common}/worktrees/linked" "${common}/x" && echo moved; true`;
    const changes = { worker: 'shell', isolation: 'repository', repo_dir: linked, instructions: script };
    const submitted = await submit('local#1', {}, changes);
    const record = await settled(submitted);
    expect(record?.decision?.reason).not.toContain('still on');
    expect(record?.decision?.action).toBe('advance');
    const branch = `sluice/${submitted.order.run_id}-${submitted.run}`;
    expect(git('log', '--format=%s', branch)).toBe('Work\nBegin\n');
    expect(git('log', '--format=%s', 'main', 'linked')).toBe('Begin\n');
    const { result } = (await store.findRun(submitted.run)) ?? {};
    const output = `${result?.text} done`;
    expect(output).not.toMatch(/wrote|moved|refused/);
    const search = `grep -rl --exclude-dir=objects evil "${common}" "${linked}" || true`;
    expect(execFileSync('sh', ['-c', search], { encoding: 'utf8' })).toBe('');
  });

  it('shows an order what its wrapper names, and nothing next to it', async () => {
    const outside = await makeFolder({ 'agent.sh': `cat "$(dirname "$0")/part.txt"`, 'part.txt': 'the part' });
    const script = join(outside, 'agent.sh');
    const base = { type: 'script', command: ['sh', script], sandbox: 'required' } as const;
    const wrappers = { bare: base, whole: { ...base, mounts: [join(outside, 'part.txt')] } };
    const { store, start, submit, settled } = await setUpWorker({ lead: { wrappers } });
    start();
    const run = async (worker: string) => {
      const order = await submit(`local#${worker}`, {}, { worker });
      await settled(order);
      return (await store.findRun(order.run))?.result;
    };
    const bare = await run('bare');
    expect(bare?.text).toBeUndefined();
    expect(bare?.error?.message).toContain('Add it to wrappers.bare.mounts.');
    expect((await run('whole'))?.text).toBe('the part');
  });
});
