import { lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isPresent, readSmallFile, removeFolder } from '../../base/files/index.js';
import { runGit, type CallGit } from './run-git.js';

/**
 * The state of a repository before an agent could change it. Kept in memory and in the store, never in the run's files.
 */
export interface RepositoryStart {
  readonly repoDir: string;
  /** The top folder of its work tree. */
  readonly root: string;
  /** The path of `repoDir` below `root`, with a slash at its end; empty if they are the same. */
  readonly prefix: string;
  /** The current commit. */
  readonly head: string;
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
  /** The path of its own exclude file. */
  readonly exclude: string;
  /** The reference or commit that HEAD named before an order without a worktree got its own branch. */
  readonly previous?: string;
}

/** Why the state of a folder is unknown: nothing can be proven there. */
export interface UnknownStart {
  readonly why: string;
  /** Why no order may start there at all. */
  readonly refusal?: string;
}

/** A repository with more branches is not examined. */
const MAX_TIPS = 50_000;
const LONG_TIME_LIMIT = { timeLimitMs: 120_000 };

/** Records the state of a repository; returns the reason if that fails. */
export async function recordStart(repoDir: string): Promise<RepositoryStart | UnknownStart> {
  const location = await locateInRepository(repoDir);
  if (location === 'outside') return { why: 'repo_dir is not a git repository' };
  const top = location === 'top' ? await readTop(realpathSync.native(repoDir)) : undefined;
  const found = top ?? (await askGit(repoDir));
  if ('why' in found) return found;
  const { shallowFile, ...paths } = found;
  const shallow = (await isPresent(shallowFile)) ? await readFile(shallowFile, 'utf8').catch(() => null) : null;
  if (top !== undefined && (await isOnlyTip(join(top.root, '.git'), top.head)))
    return { ...paths, repoDir, otherTips: [], foreignTips: [], shallow };
  const listing = ['for-each-ref', '--format=%(objectname) %(*objectname) %(refname)', `--no-merged=${paths.head}`];
  const refs = await runGit(repoDir, listing, { ...LONG_TIME_LIMIT, maxBytes: 256 * MAX_TIPS });
  if (refs.code === 'no_git') return { why: 'git is not installed' };
  const tips = readTips(refs.stdout);
  if (refs.code !== 0 || tips.length > MAX_TIPS) return { why: 'its branches could not be listed' };
  return {
    ...paths,
    repoDir,
    otherTips: tips,
    foreignTips: readTips(refs.stdout, / refs\/(?:heads|remotes\/[^/]+)\/sluice\//),
    shallow,
  };
}

/** A repository with more references is left to git. */
const MAX_REFERENCES = 32;
const MAX_PACKED_BYTES = 16 * 1024;

/** Whether all references name the current commit, as in a new clone: git need not be started to find other tips. */
async function isOnlyTip(gitDir: string, head: string): Promise<boolean> {
  try {
    const packed = (await readSmallFile(join(gitDir, 'packed-refs'), MAX_PACKED_BYTES)) ?? '';
    if (!packed.split('\n').every((line) => /^(?:#|$)/.test(line) || line.startsWith(`${head} `))) return false;
    const folders = [join(gitDir, 'refs')];
    let count = 0;
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const path = join(folder, entry.name);
        count += 1;
        if (count > MAX_REFERENCES) return false;
        if (entry.isDirectory()) folders.push(path);
        else {
          const tip = await readSmallFile(path, REFERENCE_BYTES);
          // A symbolic reference names another one.
          if (tip !== `${head}\n` && tip?.startsWith('ref: refs/') !== true) return false;
        }
      }
    }
    return true;
  } catch {
    return false;
  }
}

/** A repository's current commit, and where its files are. */
interface LocatedRepository extends Pick<
  RepositoryStart,
  'root' | 'prefix' | 'head' | 'objects' | 'format' | 'exclude'
> {
  readonly shallowFile: string;
}

/** Locates the files of the repository whose top folder this is, if git stores its current branch as a file. */
async function readTop(root: string): Promise<LocatedRepository | undefined> {
  const gitDir = join(root, '.git');
  const current = await readSmallFile(join(gitDir, 'HEAD'), REFERENCE_BYTES).catch(() => undefined);
  const branch = /^ref: refs\/heads\/(?<name>.+)\n$/.exec(current ?? '')?.groups?.['name'];
  const head = branch === undefined ? undefined : await readBranch(gitDir, branch);
  if (head === undefined) return undefined;
  return {
    root,
    prefix: '',
    head,
    objects: join(gitDir, 'objects'),
    format: head.length === 40 ? 'sha1' : 'sha256',
    exclude: join(gitDir, 'info', 'exclude'),
    shallowFile: join(gitDir, 'shallow'),
  };
}

const REFERENCE_BYTES = 4096;

/** Reads the commit of a branch from its file; returns undefined if git stores it elsewhere. */
export async function readBranch(gitDir: string, branch: string): Promise<string | undefined> {
  const tip = await readSmallFile(join(gitDir, 'refs', 'heads', branch), REFERENCE_BYTES).catch(() => undefined);
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})(?=\n$)/.exec(tip ?? '')?.[0];
}

async function askGit(repoDir: string): Promise<LocatedRepository | UnknownStart> {
  const gitPaths = ['objects', 'shallow', 'info/exclude'].flatMap((path) => ['--git-path', path]);
  const commit = ['--quiet', '--verify', 'HEAD^{commit}'];
  const query = ['rev-parse', ...gitPaths, '--show-prefix', '--show-object-format', ...commit];
  const { code, stdout, stderr } = await runGit(repoDir, query);
  if (code === 'no_git') return { why: 'git is not installed' };
  const [objects = '', shallowFile = '', exclude = '', prefix = '', format = '', head = ''] = stdout.split('\n');
  if (format === '') {
    return { why: stderr.includes('not a git repository') ? 'repo_dir is not a git repository' : 'git failed' };
  }
  const isIgnored = prefix !== '' && (await runGit(repoDir, ['check-ignore', '--quiet', '.'])).code === 0;
  if (isIgnored) return { why: 'its repository ignores repo_dir' };
  // Exit code 1 means no commit exists, and git has printed the rest. Without one, nothing can be compared or restored.
  if (code === 1) {
    const advice = 'commit its files (git add . && git commit), or use a folder without git';
    const refusal = `the repository "${repoDir}" has no commit to start from; ${advice}`;
    return { why: 'the repository has no commit', refusal };
  }
  if (code !== 0) return { why: 'git could not read the current commit of the repository' };
  return {
    root: resolve(realpathSync.native(repoDir), prefix.replaceAll(/[^/]+/g, '..')),
    prefix,
    head,
    objects: realpathSync.native(resolve(repoDir, objects)),
    format,
    exclude: resolve(repoDir, exclude),
    shallowFile: resolve(repoDir, shallowFile),
  };
}

/**
 * Where a folder is, as far as its file names show it, so that git need not be started: outside any repository, or at the
 * top of one. Only git knows the rest: folders inside a repository, bare and damaged ones, and those of other users.
 */
export async function locateInRepository(folder: string): Promise<'outside' | 'top' | 'unknown'> {
  let real: string;
  try {
    real = realpathSync.native(folder);
  } catch {
    return 'unknown';
  }
  if (isTopOfRepository(real)) return 'top';
  const folders = [real];
  for (let above = dirname(real); above !== folders.at(-1); above = dirname(above)) folders.push(above);
  // A bare repository has no `.git`, but a file `HEAD`.
  const markers = folders.flatMap((each) => ['.git', 'HEAD'].map(async (name) => isPresent(join(each, name))));
  return (await Promise.all(markers)).includes(true) ? 'unknown' : 'outside';
}

/** Whether git would accept the folder's `.git` as a repository: it has what one needs, and both belong to this user. */
function isTopOfRepository(folder: string): boolean {
  const gitDir = join(folder, '.git');
  const parts = [join(gitDir, 'HEAD'), folder, gitDir, join(gitDir, 'objects'), join(gitDir, 'refs')];
  const user = process.geteuid?.();
  try {
    const [head, ...folders] = parts.map((path) => lstatSync(path));
    return head?.isFile() === true && folders.every((each) => each.isDirectory() && each.uid === user);
  } catch {
    return false;
  }
}

/** With more branches, a repository's state is too large for the store. */
const MAX_STORED_TIPS = 2000;

/** Serializes a repository's state for the store; returns undefined if it is too large. */
export function serializeStart(start: RepositoryStart | UnknownStart): string | undefined {
  return 'why' in start || start.otherTips.length <= MAX_STORED_TIPS ? JSON.stringify(start) : undefined;
}

/** Reads the commits from a list of references, without the lines that match `excluded`. */
function readTips(listing: string, excluded?: RegExp): readonly string[] {
  const lines = listing.split('\n').filter((line) => excluded?.test(line) !== true);
  const names = lines.flatMap((line) => line.split(' ').slice(0, 2));
  return [...new Set(names.filter(Boolean))];
}

/**
 * Reads the objects of a repository through a private git directory. Nothing that the agent could have written has an
 * effect: no configuration, hook or filter, no graft that forges history, no reference.
 */
export async function withObjects<T>(
  repository: Pick<RepositoryStart, 'objects' | 'format' | 'shallow'>,
  work: (call: CallGit) => Promise<T>,
): Promise<T> {
  return withGitDir(repository, async (gitDir) => {
    const options = { ...LONG_TIME_LIMIT, gitDir, objectDirectory: repository.objects };
    return work(async (args, extra = {}) => runGit(gitDir, args, { ...options, ...extra }));
  });
}

/** Creates an object folder that adds new objects to a repository's; it is removed after the work. */
export async function withScratchObjects<T>(objects: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-objects-'));
  try {
    mkdirSync(join(folder, 'info'));
    writeFileSync(join(folder, 'info', 'alternates'), `${objects}\n`);
    return await work(folder);
  } finally {
    await removeFolder(folder);
  }
}

/** The content of a private git directory. */
interface GitDirContent {
  readonly format: string;
  readonly shallow?: string | null;
  /** The current commit; none by default. */
  readonly head?: string;
  /** The object folder that all its calls name; its own by default. */
  readonly objects?: string;
}

/**
 * Creates a private git directory without any configuration, which is removed after the work. Every order needs several;
 * for such small files, a call on another thread takes longer than the call.
 */
export async function withGitDir<T>(content: GitDirContent, work: (gitDir: string) => Promise<T>): Promise<T> {
  const gitDir = mkdtempSync(join(tmpdir(), 'sluice-git-'));
  try {
    makeGitDir(gitDir, content);
    return await work(gitDir);
  } finally {
    await removeFolder(gitDir);
  }
}

/**
 * Creates a private git directory without any configuration in an empty folder, with as little as git accepts.
 * Equivalent to `git init --bare`, but without a process.
 */
export function makeGitDir(
  folder: string,
  { format, shallow = null, head = 'ref: refs/heads/main', objects }: GitDirContent,
): void {
  if (format !== 'sha1' && format !== 'sha256')
    throw new Error(`cannot initialize a temporary git repository: unknown object format ${format}`);
  // Only version 1 of a repository has extensions.
  const [version, extensions] = format === 'sha1' ? [0, ''] : [1, '[extensions]\n\tobjectformat = sha256\n'];
  const config = `[core]\n\trepositoryformatversion = ${version}\n\tbare = true\n${FILES}${extensions}`;
  for (const name of objects === undefined ? ['refs', 'objects'] : ['refs']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'HEAD'), `${head}\n`);
  writeFileSync(join(folder, 'config'), config);
  if (shallow !== null) writeFileSync(join(folder, 'shallow'), shallow);
}

/** Properties of the file system that git detects when it creates a repository. */
const FILES =
  {
    darwin: '\tignorecase = true\n\tprecomposeunicode = true\n',
    win32: '\tfilemode = false\n\tsymlinks = false\n\tignorecase = true\n',
  }[process.platform as string] ?? '';
