import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { bundleProgram } from '../../../test/bundle-program.js';
import { makeFolder } from '../../../test/temporary-folder.js';
import { describeGitFailure, runGit } from './run-git.js';

/**
 * Creates a repository with a file that a filter writes; `filter` is a shell command that can write a process id to
 * `$PID`.
 */
async function makeRepositoryWithFilter(filter: string) {
  const folder = await makeFolder({ 'a.dat': 'a\n', '.gitattributes': '*.dat filter=x\n' });
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', folder, ...args]);
  git('init', '--quiet');
  git('add', '.');
  await rm(join(folder, 'a.dat'));
  const pidFile = join(folder, 'pid');
  const filters = { 'filter.x.smudge': `PID=${pidFile}; ${filter}`, 'filter.x.clean': 'cat' };
  const dirs = { gitDir: join(folder, '.git'), workTree: folder };
  const checkOut = async (options: { readonly timeLimitMs: number; readonly signal?: AbortSignal }) =>
    runGit(folder, ['checkout-index', '--all', '--force'], { ...dirs, filters, ...options });
  const hasStarted = (): boolean => existsSync(pidFile);
  const isRunning = async () => {
    const pid = (await readFile(pidFile, 'utf8')).trim();
    // A process that has exited stays in the process table until its parent has waited for it.
    return /State:\s+[^ZX]/.test(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''));
  };
  return { folder, checkOut, hasStarted, isRunning };
}

const HANG = 'sleep 1000 & echo $! > $PID; wait';

it.each([
  [{ code: 128, stderr: 'fatal: bad revision.\n' }, 'fatal: bad revision'],
  [{ code: 1, stderr: '' }, 'git exited with code 1'],
  [{ code: 'failed', stderr: ' \n' }, 'git did not finish, or printed too much'],
  [{ code: 'no_git', stderr: '' }, 'git is not installed'],
] as const)('describes the failure %j', (failure, description) => {
  expect(describeGitFailure({ stdout: '', ...failure })).toBe(description);
});

it('kills all git processes on timeout', async () => {
  const { checkOut, isRunning } = await makeRepositoryWithFilter(HANG);
  expect(await checkOut({ timeLimitMs: 1000 })).toMatchObject({ code: 'failed' });
  await expect.poll(isRunning).toBe(false);
});

it('kills all git processes on abort', async () => {
  const { checkOut, hasStarted, isRunning } = await makeRepositoryWithFilter(HANG);
  const controller = new AbortController();
  const end = checkOut({ timeLimitMs: 60_000, signal: controller.signal });
  await expect.poll(hasStarted, { timeout: 20_000 }).toBe(true);
  controller.abort();
  expect(await end).toMatchObject({ code: 'failed' });
  await expect.poll(isRunning).toBe(false);
  expect(await checkOut({ timeLimitMs: 60_000, signal: controller.signal })).toMatchObject({ code: 'failed' });
});

it('does not wait for a process that a filter left running, and kills it', async () => {
  const { checkOut, isRunning } = await makeRepositoryWithFilter('{ sleep 1000 > /dev/null & echo $! > $PID; }; cat');
  expect(await checkOut({ timeLimitMs: 3_600_000 })).toMatchObject({ code: 0 });
  await expect.poll(isRunning).toBe(false);
});

it('fails if the output exceeds the limit', async () => {
  const { folder } = await makeRepositoryWithFilter('cat');
  await writeFile(join(folder, 'long'), 'x'.repeat(100_000));
  const hashFiles = async (maxBytes: number) => runGit(folder, ['hash-object', '--', 'long', 'long'], { maxBytes });
  expect(await hashFiles(82)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^(?:[0-9a-f]{40}\n){2}$/) });
  expect(await hashFiles(81)).toMatchObject({ code: 'failed' });
});

it('reports that git cannot be started when no file descriptor is free', async () => {
  const program = await bundleProgram(new URL('fixtures/git-without-descriptors.ts', import.meta.url));
  const child = program.start([], { descriptors: 64 });
  const [stdout] = await Promise.all([readText(child.stdout), once(child, 'close')]);
  expect(JSON.parse(stdout)).toEqual({ code: 'failed', stdout: '', stderr: 'cannot start git: spawn git EMFILE' });
});

it('is the only way to run git: no file outside this folder calls it or starts a git process', async () => {
  const source = fileURLToPath(new URL('../../', import.meta.url));
  const files = (await readdir(source, { recursive: true })).filter(
    (path) => path.endsWith('.ts') && !/\.(?:test|contract)\.ts$|\/(?:fixtures|scenarios)\//.test(path),
  );
  const texts = await Promise.all(
    files.map(async (path) => [path, await readFile(join(source, path), 'utf8')] as const),
  );
  const callers = texts.filter(([, text]) => /\brunGit\b|(?:spawn|exec|execFile)(?:Sync)?\(\s*'git'/.test(text));
  expect(callers.map(([path]) => path).filter((path) => !path.startsWith(join('orders', 'git')))).toEqual([]);
  expect(callers.length).toBeGreaterThan(5);
});
