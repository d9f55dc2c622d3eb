import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isPresent } from '../../../files/index.js';
import { runGit } from '../../../orders/index.js';
import { makeGitDir } from '../git-dir.js';
import type { GitResult, GitOptions } from '../../../orders/index.js';

/**
 * The state of a repository before an agent could change it. Kept in memory and in the store, never in the run's files.
 */
export interface RepositoryStart {
  readonly repoDir: string;
  /** The current commit; the empty tree if the repository had no commit. */
  readonly head: string;
  /** Whether the repository had no commit. */
  readonly isEmpty: boolean;
  /** Tips of branches, tags and remote branches with commits that `head` does not have. */
  readonly otherTips: readonly string[];
  /**
   * The tips in `otherTips` that are not branches of orders. Only their files are compared: two orders can produce the
   * same files.
   */
  readonly foreignTips: readonly string[];
  /** Its object folder: an absolute path with links resolved. */
  readonly objects: string;
  readonly format: string;
  /** Where the history of a shallow clone ends; null for a complete repository. */
  readonly shallow: string | null;
  /** The path of its own exclude file; absent in states recorded by earlier versions. */
  readonly exclude?: string;
}

/** A repository with more branches is not examined. */
const MAX_TIPS = 50_000;
/** The object id of an empty tree, by hash format. */
const EMPTY_TREES = new Map([
  ['sha1', '4b825dc642cb6eb9a060e54bf8d69288fbee4904'],
  ['sha256', '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321'],
]);
const LONG_TIME_LIMIT = { timeLimitMs: 120_000 };

/** Records the state of a repository; returns the reason if that fails. */
export async function recordStart(repoDir: string): Promise<RepositoryStart | { readonly why: string }> {
  if (await isOutsideRepositories(repoDir)) return { why: 'repo_dir is not a git repository' };
  const gitPaths = ['objects', 'shallow', 'info/exclude'].flatMap((path) => ['--git-path', path]);
  const gitInfo = await runGit(repoDir, [
    'rev-parse',
    ...gitPaths,
    '--show-object-format',
    '--quiet',
    '--verify',
    'HEAD^{commit}',
  ]);
  if (gitInfo.code === 'no_git') return { why: 'git is not installed' };
  const [objects = '', shallowFile = '', exclude = '', format = '', commit = ''] = gitInfo.stdout.trim().split('\n');
  if (format === '') {
    return { why: gitInfo.stderr.includes('not a git repository') ? 'repo_dir is not a git repository' : 'git failed' };
  }
  // Exit code 1 means no commit exists, and git has printed the rest.
  const isEmpty = gitInfo.code === 1;
  if (gitInfo.code !== 0 && !isEmpty) return { why: 'git could not read the current commit of the repository' };
  const head = isEmpty ? (EMPTY_TREES.get(format) ?? '') : commit;
  const listing = ['for-each-ref', '--format=%(objectname) %(*objectname) %(refname)'];
  const others = isEmpty ? listing : [...listing, `--no-merged=${head}`];
  const refs = await runGit(repoDir, others, { ...LONG_TIME_LIMIT, maxBytes: 256 * MAX_TIPS });
  const tips = readTips(refs.stdout);
  if (refs.code !== 0 || tips.length > MAX_TIPS) return { why: 'its branches could not be listed' };
  return {
    repoDir,
    head,
    isEmpty,
    otherTips: tips,
    foreignTips: readTips(refs.stdout, / refs\/(?:heads|remotes\/[^/]+)\/sluice\//),
    objects: await realpath(resolve(repoDir, objects)),
    format,
    shallow: await readFile(resolve(repoDir, shallowFile), 'utf8').catch(() => null),
    exclude: resolve(repoDir, exclude),
  };
}

/** Whether neither the folder nor any folder above it can be a repository, so git need not be started. */
async function isOutsideRepositories(folder: string): Promise<boolean> {
  const real = await realpath(folder).catch(() => undefined);
  if (real === undefined) return false;
  const folders = [real];
  for (let above = dirname(real); above !== folders.at(-1); above = dirname(above)) folders.push(above);
  // A bare repository has no `.git`, but a file `HEAD`.
  const markers = folders.flatMap((each) => ['.git', 'HEAD'].map(async (name) => isPresent(join(each, name))));
  return !(await Promise.all(markers)).includes(true);
}

/** With more branches, a repository's state is too large for the store. */
const MAX_STORED_TIPS = 2000;

/** Serializes a repository's state for the store; returns undefined if it is too large. */
export function serializeStart(start: RepositoryStart | { readonly why: string }): string | undefined {
  return 'why' in start || start.otherTips.length <= MAX_STORED_TIPS ? JSON.stringify(start) : undefined;
}

/** Reads the commits from a list of references, without the lines that match `excluded`. */
function readTips(listing: string, excluded?: RegExp): readonly string[] {
  const lines = listing.split('\n').filter((line) => excluded?.test(line) !== true);
  const names = lines.flatMap((line) => line.split(' ').slice(0, 2));
  return [...new Set(names.filter(Boolean))];
}

/** Calls git with additional options. */
export type CallGit = (args: readonly string[], options?: GitOptions) => Promise<GitResult>;

/**
 * Reads the objects of a repository through a private git directory. Nothing that the agent could have written has an
 * effect: no configuration, hook or filter, no graft that forges history, no reference.
 */
export async function withObjects<T>(
  { objects, format, shallow }: Pick<RepositoryStart, 'objects' | 'format' | 'shallow'>,
  work: (call: CallGit) => Promise<T>,
): Promise<T> {
  const gitDir = await mkdtemp(join(tmpdir(), 'sluice-git-'));
  try {
    await makeGitDir(gitDir, format, shallow);
    const options = { ...LONG_TIME_LIMIT, gitDir, objectDirectory: objects };
    return await work(async (args, extra = {}) => runGit(gitDir, args, { ...options, ...extra }));
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}
