import { readdir, rename, rm, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getErrorMessage, omitUndefined, SluiceError } from '../../base/index.js';
import { isPresent, makeFolder } from '../../base/files/index.js';
import { describeGitFailure, runGit, type CallGit, type GitResult } from './run-git.js';
import { dropFullStop } from '../plain-text.js';
import { getRepositoryFolder, type Repo } from '../repos/repos.js';
import { lockFolder } from '../../runs/index.js';
import { callRemote, LIST_REFS, listRefs, measureFolder, readRefs, watchSize, withRemote } from './git-remote.js';

/** Error codes of configured repositories. A closed list: `docs/errors.md` explains what to do about each. */
export const REPO_ERROR_CODES = ['REPO_UNAVAILABLE', 'REPO_TOO_LARGE', 'REPO_PUSH_FAILED'] as const;

/** One of `REPO_ERROR_CODES`. */
export type RepoErrorCode = (typeof REPO_ERROR_CODES)[number];

/**
 * Thrown when a repository cannot be fetched or pushed to.
 *
 * @example
 * if (error instanceof RepoError) console.error(error.code, error.message)
 */
export class RepoError extends SluiceError<RepoErrorCode> {
  override readonly name = 'RepoError';
}

/** Options for fetching and pushing. */
export interface MirrorOptions {
  readonly signal?: AbortSignal;
  /** Delays between attempts, in milliseconds. */
  readonly pauses?: readonly number[];
  /** Masks secrets in git's output. */
  readonly maskText?: (text: string) => string;
}

/** The delays between attempts: long enough for a server to restart. */
const PAUSES_MS = [1000, 5000];
const LOCK_MS = 900_000;
/** Pushed commits, by the name of their branch: they also exist in the remote repository. */
const PUSHED_REFS = 'refs/sluice/pushed/';
/** The number of packs above which they are combined, because many make every lookup slow. */
const MAX_PACKS = 50;

/**
 * Fetches a repository into its mirror in the data folder, one process at a time, and returns the mirror's folder. The
 * repository's branches are in `refs/remotes/origin`, order branches in `refs/heads/sluice`, and `HEAD` is the commit
 * where work starts.
 */
export async function fetchMirror(data: string, repo: Repo, options: MirrorOptions = {}): Promise<string> {
  return retryCall(options, async () =>
    withMirrorLock(data, repo, options, async (folder) => {
      const head = await findHead(repo, options);
      const format = head.commit.length === 40 ? 'sha1' : 'sha256';
      await createMirror(folder, format, repo);
      await fetchInto(folder, format, repo, options);
      const known = await runGit(folder, ['cat-file', '-e', `${head.commit}^{commit}`], { gitDir: folder });
      if (known.code !== 0) {
        throw createUnavailableError(repo, `its ${head.name}'s commit was not received`, 'Try again.');
      }
      const moved = await runGit(folder, ['update-ref', '--no-deref', 'HEAD', head.commit], { gitDir: folder });
      if (moved.code !== 0) throw createUnavailableError(repo, describeFailure(moved, options), CHECK_DATA_FOLDER);
      await repackIfNeeded(folder);
      return folder;
    }),
  );
}

/**
 * Pushes a commit, named by its whole hash, to a new branch of the repository. A branch that exists is never changed,
 * not even by adding commits to it, and a repeat is harmless.
 */
export async function pushCommit(
  data: string,
  repo: Repo,
  { commit, branch }: { readonly commit: string; readonly branch: string },
  options: MirrorOptions = {},
): Promise<void> {
  const folder = getRepositoryFolder(data, { repo: repo.url, repo_dir: repo.url });
  await retryCall(options, async () => {
    const format = commit.length === 40 ? 'sha1' : 'sha256';
    const reference = `refs/heads/${branch}`;
    const flags = ['--quiet', '--no-verify', `--force-with-lease=${reference}:`];
    const pushed = await withRemote(repo, { folder, format, purpose: 'push' }, async (call) =>
      call(['push', ...flags, '--', repo.url, `${commit}:${reference}`], omitUndefined({ signal: options.signal })),
    );
    if (pushed.code === 0) {
      await runGit(folder, ['update-ref', '--no-deref', `${PUSHED_REFS}${branch}`, commit], { gitDir: folder });
      return touch(folder);
    }
    const remoteAdvice = 'Check that the token may write, or set "push" to false in the setting "repos".';
    const why = `${describeFailure(pushed, options)}. ${adviseOnFailure(pushed, remoteAdvice)}`;
    throw new RepoError('REPO_PUSH_FAILED', `Cannot push the branch "${branch}" to "${repo.url}": ${why}`);
  });
}

async function retryCall<T>(options: MirrorOptions, work: () => Promise<T>): Promise<T> {
  const { pauses = PAUSES_MS, signal } = options;
  for (const pause of pauses) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RepoError) || error.code === 'REPO_TOO_LARGE' || signal?.aborted === true) throw error;
      await sleep(pause, undefined, omitUndefined({ signal })).catch(() => undefined);
    }
  }
  return work();
}

async function withMirrorLock<T>(
  data: string,
  repo: Repo,
  { signal }: MirrorOptions,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = getRepositoryFolder(data, { repo: repo.url, repo_dir: repo.url });
  const lockPath = `${folder}.lock`;
  await makeFolder(lockPath);
  const timeout = AbortSignal.timeout(LOCK_MS);
  const waiting = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  const lock = await lockFolder(join(data, 'locks'), lockPath, { wait: true, signal: waiting }).catch(
    (cause: unknown) => {
      if (waiting.aborted) throw createUnavailableError(repo, 'its mirror is in use', 'Try again later.', cause);
      const why = `its mirror cannot be locked: ${dropFullStop(getErrorMessage(cause))}`;
      throw createUnavailableError(repo, why, CHECK_DATA_FOLDER, cause);
    },
  );
  try {
    await touch(folder);
    return await work(folder);
  } finally {
    await lock.release();
  }
}

/** Records that the mirror is in use. */
async function touch(folder: string): Promise<void> {
  const now = new Date();
  await makeFolder(`${folder}.lock`);
  await utimes(`${folder}.lock`, now, now);
}

/** Finds the commit from which work starts. */
async function findHead(repo: Repo, options: MirrorOptions) {
  const name = repo.branch === undefined ? 'HEAD' : `refs/heads/${repo.branch}`;
  const listed = await callRemote(repo, ['ls-remote', '--', repo.url, name], {
    timeLimitMs: 60_000,
    ...omitUndefined({ signal: options.signal }),
  });
  if (listed.code !== 0) throw createFetchError(repo, listed, options);
  const line = listed.stdout.split('\n').find((each) => each.endsWith(`\t${name}`));
  const commit = /^(?:[0-9a-f]{40}|[0-9a-f]{64})(?=\t)/.exec(line ?? '')?.[0];
  if (commit === undefined) {
    throw repo.branch === undefined
      ? createUnavailableError(repo, 'it has no commits', 'Push a commit to its default branch.')
      : createUnavailableError(repo, `it has no branch "${repo.branch}"`, 'Correct "branch" in the setting "repos".');
  }
  return { name: repo.branch === undefined ? 'default branch' : `branch "${repo.branch}"`, commit };
}

/** Creates the mirror under a temporary name, so only a complete mirror gets its final name. */
async function createMirror(folder: string, format: string, repo: Repo): Promise<void> {
  if (await isPresent(folder)) return requireFormat(folder, format, repo);
  await makeFolder(dirname(folder));
  const part = `${folder}.part`;
  await rm(part, { recursive: true, force: true });
  await makeFolder(part);
  const created = await runGit(part, ['init', '--quiet', '--bare', '--template=', `--object-format=${format}`, '.']);
  if (created.code !== 0) {
    const why = `its mirror cannot be created: ${describeGitFailure(created)}`;
    throw createUnavailableError(repo, why, CHECK_DATA_FOLDER);
  }
  await rename(part, folder);
}

/** Rejects another object format: objects in two formats in one folder would damage the mirror. */
async function requireFormat(folder: string, format: string, repo: Repo): Promise<void> {
  const output = await runGit(folder, ['rev-parse', '--show-object-format'], { gitDir: folder });
  const earlier = output.stdout.trim();
  if (output.code !== 0 || earlier === format) return;
  throw createUnavailableError(
    repo,
    `its object format is now ${format}, but its mirror "${folder}" uses ${earlier}`,
    'Save what you need from the mirror, then remove it.',
  );
}

const FETCH_FLAGS =
  '--quiet --prune --no-tags --no-auto-maintenance --no-write-fetch-head --no-recurse-submodules'.split(' ');
const REFSPECS = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];

async function fetchInto(folder: string, format: string, repo: Repo, options: MirrorOptions): Promise<void> {
  const packs = join(folder, 'objects', 'pack');
  await withRemote(repo, { folder, format, purpose: 'fetch' }, async (call) => {
    const size = watchSize(folder, repo.maxBytes);
    try {
      const { signal = size.signal } = options;
      const fetched = await call(['fetch', ...FETCH_FLAGS, '--', repo.url, ...REFSPECS], {
        signal: AbortSignal.any([signal, size.signal]),
      });
      if (size.signal.aborted || (await measureFolder(packs)) > repo.maxBytes) {
        await removePartial(packs);
        throw new RepoError(
          'REPO_TOO_LARGE',
          `Cannot fetch "${repo.url}": its mirror would be larger than ${repo.maxBytes} bytes. Raise "max_bytes" in the setting "repos".`,
        );
      }
      if (fetched.code !== 0) {
        await removePartial(packs);
        throw createFetchError(repo, fetched, options);
      }
      await copyRefs(folder, call, repo);
    } finally {
      size.stop();
    }
  });
}

/** Removes the leftovers of an aborted git call; no other process fetches concurrently. */
async function removePartial(packs: string): Promise<void> {
  const names = await readdir(packs).catch((): string[] => []);
  for (const name of names.filter((each) => each.startsWith('tmp_'))) await rm(join(packs, name), { force: true });
}

/**
 * Copies the fetched references from the private git directory of `withRemote` into the mirror; order branches are
 * kept.
 */
async function copyRefs(folder: string, call: CallGit, repo: Repo): Promise<void> {
  const listed = await call([...LIST_REFS, 'refs/remotes/origin', 'refs/tags']);
  if (listed.code !== 0) throw createUnavailableError(repo, 'its branches could not be listed', 'Try again.');
  const fetched = readRefs(listed.stdout);
  const known = await listRefs(folder);
  const own = [...known.keys()].filter((name) => /^refs\/(?:remotes\/origin|tags)\//.test(name));
  const deletions = own.filter((name) => !fetched.has(name)).map((name) => `delete ${name}\n`);
  const moved = [...fetched].filter(([name, hash]) => known.get(name) !== hash);
  const input = [...deletions, ...moved.map(([name, hash]) => `update ${name} ${hash}\n`)].join('');
  if (input === '') return;
  const options = { gitDir: folder, input, timeLimitMs: 120_000 };
  const updated = await runGit(folder, ['update-ref', '--no-deref', '--stdin'], options);
  if (updated.code === 0) return;
  throw createUnavailableError(repo, `its mirror cannot be updated: ${describeGitFailure(updated)}`, CHECK_DATA_FOLDER);
}

/** Combines packs if there are many. A failure is ignored: it costs only time. */
async function repackIfNeeded(folder: string): Promise<void> {
  const packs = (await readdir(join(folder, 'objects', 'pack'))).filter((name) => name.endsWith('.pack'));
  if (packs.length <= MAX_PACKS) return;
  await runGit(folder, ['repack', '-d', '--geometric=2', '--quiet'], { gitDir: folder, timeLimitMs: 600_000 });
}

function createUnavailableError(repo: Repo, why: string, advice: string, cause?: unknown): RepoError {
  return new RepoError('REPO_UNAVAILABLE', `Cannot fetch "${repo.url}": ${why}. ${advice}`, { cause });
}

function createFetchError(repo: Repo, failed: GitResult, options: MirrorOptions): RepoError {
  const advice = adviseOnFailure(failed, 'Check the URL, the network and the token.');
  return createUnavailableError(repo, describeFailure(failed, options), advice);
}

const CHECK_DATA_FOLDER = 'Check the permissions and the free space of the data folder.';

/**
 * Errors of this host's file system. An SSH server that rejects a key responds with `Permission denied (publickey)`.
 */
const LOCAL_FAILURE =
  /No space left on device|Disk quota exceeded|Read-only file system|insufficient permission for adding an object|\b(?:create|open|write|mkdir|rename|unlink)\b.*: Permission denied$/im;

/** Advises on a failed git call: `remoteAdvice`, unless the failure has nothing to do with the remote repository. */
function adviseOnFailure({ code, stderr }: GitResult, remoteAdvice: string): string {
  if (code === 'no_git') return 'Install git on this host.';
  const local = stderr.replaceAll(/^remote: .*$/gm, '');
  return LOCAL_FAILURE.test(local) ? CHECK_DATA_FOLDER : remoteAdvice;
}

function describeFailure({ code, stderr }: GitResult, { maskText = (text) => text, signal }: MirrorOptions): string {
  if (code === 'no_git') return 'git is not installed';
  const lines = stderr.split('\n').filter((line) => !/^(?:hint: |To |error: failed to push some refs|\s*$)/.test(line));
  // Git explains some errors in additional lines, which are less useful than the error itself.
  const errors = lines.filter((line) => /^(?:fatal|error|remote): |^ ! \[/.test(line));
  const lastLines = (errors.length > 0 ? errors : lines).slice(-3);
  const message = lastLines.map((line) => line.replace(/^(?:fatal|error|remote): /, '').trim()).join('; ');
  if (message !== '') return dropFullStop(maskText(message).slice(0, 300));
  if (typeof code === 'number') return `git exited with code ${code}`;
  return signal?.aborted === true ? 'git was stopped' : 'git did not finish in time';
}

/** Whether an order branch of a mirror has commits that were neither fetched nor pushed. */
export async function hasOwnCommits(folder: string): Promise<boolean> {
  const flags = ['--max-count=1', '--branches', '--not', '--remotes', '--tags', `--glob=${PUSHED_REFS}*`];
  const output = await runGit(folder, ['rev-list', ...flags, '--'], { gitDir: folder, timeLimitMs: 60_000 });
  return output.code !== 0 || output.stdout.trim() !== '';
}
