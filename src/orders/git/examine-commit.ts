import { runGit, type CallGit, type GitResult } from './run-git.js';
import { isTestPath, leavesRepository, listLinks, parseChanges, type FileChange } from '../proof/changes.js';
import type { CommitFacts, OrderChange } from '../proof/judge-commit.js';
import { withGitDir, withObjects, type RepositoryStart } from './repository.js';
import { copyObjects, type WantedObjects } from './copy-objects.js';
import { join } from 'node:path';
import { isPresent } from '../../base/files/index.js';
import type { Problem } from '../../store/records/index.js';

export interface CommitClaim {
  readonly commit: string;
  /** The commit where work on the issue started; for a retry, where the first order started. */
  readonly base: string;
  /** The commit that the change is compared with: `base`, or the start of this run if that contains others' work. */
  readonly from: string;
  /** Set if Sluice has just made the commit from the agent's uncommitted changes. */
  readonly made?: MadeCommit;
}

/** A commit that Sluice made: its parent and its change. */
export interface MadeCommit extends ListedChange {
  readonly parent: string;
}

/** The files of a change, and the number of lines it adds and removes. */
export interface ListedChange {
  readonly files: readonly FileChange[];
  readonly lines: number | null;
}

const HASH = /^[0-9a-f]{4,64}$/;
/** The maximum size of a list of about 50,000 files. */
const MAX_LISTING_BYTES = 8 * 1024 * 1024;
const MAX_LINKS = 200;

/** Examines a claimed commit: whether it exists, whether this order made it, and what it changes. */
export async function examineCommit(start: RepositoryStart, claim: CommitClaim): Promise<CommitFacts> {
  if (!HASH.test(claim.commit)) return { found: 'missing', commit: claim.commit };
  try {
    return await withObjects(start, async (call) => examine(start, claim, call));
  } catch (error) {
    return { found: 'unknown', why: `git failed: ${String(error)}` };
  }
}

async function examine(start: RepositoryStart, claim: CommitClaim, call: CallGit): Promise<CommitFacts> {
  const { base, from, made } = claim;
  const isOnlyCommit = made !== undefined && [made.parent, base, from].every((each) => each === start.head);
  if (isOnlyCommit) return examineOwnCommit(start, claim.commit, made, call);
  const resolved = await call(['rev-parse', '--quiet', '--verify', `${claim.commit}^{commit}`]);
  if (resolved.code === 'failed' || resolved.code === 'no_git') return { found: 'unknown', why: 'git did not finish' };
  if (resolved.code !== 0) return { found: 'missing', commit: claim.commit };
  const commit = resolved.stdout.trim();
  const foreign = (why: string): CommitFacts => ({ found: 'foreign', commit, why });

  if (commit === base || commit === start.head) return foreign('existed before the work started');
  const excluded = [`^${base}`, `^${start.head}`];
  // In parallel: these calls are independent of each other, and each starts a process.
  const [ancestry, commitCount, unsharedCount, forged, isReviewable, listed, twin, origin] = await Promise.all([
    call(['merge-base', '--is-ancestor', base, commit]),
    countCommits(call, [commit, ...excluded]),
    start.otherTips.length === 0
      ? null
      : countCommits(call, [commit, ...excluded, ...start.otherTips.map((tip) => `^${tip}`)]),
    findForgery(start, { commits: [base, commit], between: [base, commit] }),
    isOnBranch(start.repoDir, commit),
    listChange(call, from, commit),
    findTwin(call, start.foreignTips, commit),
    readOrigin(call, base, [commit, ...excluded]),
  ]);
  const newCount = unsharedCount === null ? commitCount : unsharedCount;
  if (ancestry.code === 1) return foreign(`does not descend from ${base.slice(0, 12)}, where the work started`);
  if (ancestry.code !== 0) return { found: 'unknown', why: 'git could not compare it with where the work started' };
  if (commitCount === undefined || newCount === undefined)
    return { found: 'unknown', why: 'git could not list its commits' };
  if (commitCount === 0) return foreign('existed before the work started');
  if (newCount < commitCount) {
    const shared = `${commitCount - newCount} of ${commitCount} commits`;
    return foreign(`has ${shared} from other branches, tags or remotes that existed before the work started`);
  }
  if (forged !== undefined) return foreign(`cannot be trusted: ${forged}`);
  if (!isReviewable) return foreign('is not on any branch of the repository');
  if (listed === undefined) return { found: 'unknown', why: 'its files could not be listed' };
  const { files, lines } = listed;
  if (twin !== undefined) return foreign(`has exactly the files of ${twin.slice(0, 12)}, which existed before`);
  const [linksOut, blankTests] = await Promise.all([
    findLinksOut(call, files),
    findBlankTests(call, from, commit, files),
  ]);
  const change = { commit, base, from, commits: newCount, files, lines, ...origin, blankTests, linksOut };
  return { found: 'change', change: { ...change, madeBySluice: made !== undefined } };
}

/**
 * Examines a commit that Sluice made on top of the commit where the work started. Its history, branch and changes are
 * known, and it has no links that lead out of the repository: otherwise Sluice would not have made it.
 */
async function examineOwnCommit(
  start: RepositoryStart,
  commit: string,
  { files, lines }: MadeCommit,
  call: CallGit,
): Promise<CommitFacts> {
  const { head: base } = start;
  const [forged, twin, dated, blankTests] = await Promise.all([
    findForgery(start, { commits: [base, commit] }),
    findTwin(call, start.foreignTips, commit),
    call(['log', '--no-color', '--no-walk=unsorted', '--format=%ct', commit, base]),
    findBlankTests(call, base, commit, files),
  ]);
  const foreign = (why: string): CommitFacts => ({ found: 'foreign', commit, why });
  if (forged !== undefined) return foreign(`cannot be trusted: ${forged}`);
  if (twin !== undefined) return foreign(`has exactly the files of ${twin.slice(0, 12)}, which existed before`);
  const [madeAt = 0, baseMadeAt = 0] = dated.stdout.split('\n').map(Number);
  const isBackdated = dated.code === 0 && madeAt < baseMadeAt;
  const made = { commits: 1, authors: ['sluice'], isBackdated, linksOut: [], madeBySluice: true };
  return { found: 'change', change: { commit, base, from: base, files, lines, blankTests, ...made } };
}

/**
 * Lists the files of a change and counts its lines; returns undefined if there are too many. Every file counts as text,
 * so marking a file as binary does not hide its size.
 */
export async function listChange(call: CallGit, from: string, to: string): Promise<ListedChange | undefined> {
  const plain = ['--text', '--no-ext-diff', '--no-textconv', '-M'];
  const listing = ['diff-tree', '-r', ...plain, '--raw', '--shortstat', '-z', '--no-abbrev', from, to];
  const { code, stdout } = await call(listing, { maxBytes: MAX_LISTING_BYTES });
  if (code !== 0) return undefined;
  // The counts follow directly after the last file.
  const end = stdout.lastIndexOf('\0') + 1;
  const parts = [...stdout.slice(end).matchAll(/(\d+) (?:insertion|deletion)/g)];
  return {
    files: parseChanges(stdout.slice(0, end)),
    lines: parts.reduce((sum, [, lines]) => sum + Number(lines), 0),
  };
}

const MAX_TWINS = 2000;

/** Finds another branch with exactly the commit's files, which means that branch's work was squashed or copied. */
async function findTwin(call: CallGit, tips: readonly string[], commit: string): Promise<string | undefined> {
  if (tips.length === 0) return undefined;
  const compared = [commit, ...tips.slice(0, MAX_TWINS)];
  const input = compared.map((tip) => `${tip}^{tree}\n`).join('');
  const listing = await call(['cat-file', '--batch-check=%(objectname)'], { input, maxBytes: MAX_LISTING_BYTES });
  const [ownTree, ...tipTrees] = listing.stdout.split('\n');
  const index = listing.code === 0 ? tipTrees.indexOf(ownTree ?? '') : -1;
  return index === -1 ? undefined : tips[index];
}

/** Reads the authors recorded in the commits, and whether any commit is dated before the base commit. */
async function readOrigin(
  call: CallGit,
  base: string,
  revisions: readonly string[],
): Promise<Pick<OrderChange, 'authors' | 'isBackdated'>> {
  const [listed, start] = await Promise.all([
    call(['log', '--no-color', '--max-count=100', '--format=%ct %an', ...revisions]),
    call(['log', '--no-color', '--max-count=1', '--format=%ct', base]),
  ]);
  const commits = listed.stdout.split('\n').filter(Boolean);
  const authors = [...new Set(commits.map((line) => line.slice(line.indexOf(' ') + 1)))];
  const isBackdated = start.code === 0 && commits.some((line) => Number.parseInt(line) < Number(start.stdout.trim()));
  return { authors: authors.slice(0, 3), isBackdated };
}

/** Finds tests that no longer have any letter or digit, so they cannot fail. A test that never had any is not lost. */
async function findBlankTests(
  call: CallGit,
  from: string,
  commit: string,
  files: readonly FileChange[],
): Promise<readonly string[]> {
  const tests = files.filter(({ kind, path }) => kind !== 'added' && kind !== 'deleted' && isTestPath(path));
  if (tests.length === 0) return [];
  const paths = tests.map(({ path }) => path);
  const oldPaths = tests.map(({ path, oldPath = path }) => oldPath);
  const [now, before] = await Promise.all([listBlank(call, commit, paths), listBlank(call, from, oldPaths)]);
  return tests.flatMap(({ path, oldPath = path }) => (now.has(path) && !before.has(oldPath) ? [path] : []));
}

/** With more paths, all files are searched, because the length of a command line is limited. */
const MAX_SEARCHED = 200;

async function listBlank(call: CallGit, commit: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const pathspecs = paths.length > MAX_SEARCHED ? [] : paths.map((path) => `:(literal)${path}`);
  const search = ['grep', '--text', '--files-without-match', '-z', '-e', '[[:alnum:]]', commit, '--', ...pathspecs];
  const found = await call(search, { maxBytes: MAX_LISTING_BYTES });
  return new Set(found.stdout.split('\0').map((name) => name.slice(commit.length + 1)));
}

/** Finds commits or folders in a change whose content does not match their hash: a forged object could hide changes. */
async function findForgery(
  { objects, format, shallow }: RepositoryStart,
  query: Pick<WantedObjects, 'commits' | 'between'>,
): Promise<string | undefined> {
  return withGitDir({ format, shallow }, async (gitDir) => {
    const { error } = await copyObjects(gitDir, { objects, ...query, withoutFiles: true });
    return error;
  });
}

async function countCommits(call: CallGit, revisions: readonly string[]): Promise<number | undefined> {
  const counted = await call(['rev-list', '--count', '--ignore-missing', '--stdin'], {
    input: `${revisions.join('\n')}\n`,
  });
  return counted.code === 0 ? Number(counted.stdout.trim()) : undefined;
}

/** Whether a commit is on a branch: only such a commit can be reviewed. */
async function isOnBranch(repoDir: string, commit: string): Promise<boolean> {
  const list = ['for-each-ref', '--count=1', '--format=%(refname)', `--contains=${commit}`];
  const branches = await runGit(repoDir, [...list, 'refs/heads', 'refs/remotes'], { timeLimitMs: 120_000 });
  if (branches.code === 0 && branches.stdout.trim() !== '') return true;
  return (await runGit(repoDir, ['merge-base', '--is-ancestor', commit, 'HEAD'])).code === 0;
}

/** Finds the symbolic links in a change that lead out of the repository; links beyond the first 200 are not trusted. */
export async function findLinksOut(call: CallGit, files: readonly FileChange[]): Promise<readonly string[]> {
  const links = listLinks(files);
  const out = links.slice(MAX_LINKS).map(({ path }) => path);
  for (const { path, blob } of links.slice(0, MAX_LINKS)) {
    const target = await call(['cat-file', 'blob', blob], { maxBytes: 8192 });
    if (target.code !== 0 || leavesRepository(path, target.stdout)) out.push(path);
  }
  return out;
}

/** The outcome of looking up a commit; empty if the commit exists. */
export interface CommitCheck {
  /** The commit is missing, or the repository could not be checked. */
  readonly problem?: Problem;
  /** No repository exists. */
  readonly notice?: Problem;
}

/**
 * Looks up a claimed commit in a repository. The agent can write the repository's configuration, so git is called in a
 * way that runs no configured command and contacts no other host.
 */
export async function checkCommit(repoDir: string, commit: string): Promise<CommitCheck> {
  const missing = { problem: describe('COMMIT_NOT_FOUND', `the repository has no commit ${commit.slice(0, 70)}`) };
  if (!HASH.test(commit)) return missing;
  const lookup = await runGit(repoDir, ['cat-file', '-e', `${commit}^{commit}`]);
  if (lookup.code === 0) return {};
  const repository = await runGit(repoDir, ['rev-parse', '--git-dir']);
  if (repository.code !== 0) return judgeFailure(repository, await isPresent(join(repoDir, '.git')));
  return lookup.code === 'failed' ? createUnchecked('git did not finish') : missing;
}

function judgeFailure({ code, stderr }: GitResult, looksLikeRepository: boolean): CommitCheck {
  const hasNoGit = code === 'no_git';
  const hasNoRepository = code === 'no_folder' || stderr.includes('not a git repository');
  // A damaged repository is a problem, a missing one is not: an agent cannot avoid the check by damaging it.
  if (!looksLikeRepository && (hasNoRepository || hasNoGit)) {
    const why = hasNoGit ? 'git is not installed' : 'repo_dir is not a git repository';
    return { notice: describe('NOT_A_REPOSITORY', `the commit was not checked: ${why}`) };
  }
  if (hasNoGit) return createUnchecked('git is not installed');
  const isForeign = stderr.includes('dubious ownership');
  return createUnchecked(isForeign ? 'the repository belongs to another user' : 'git failed');
}

function createUnchecked(why: string): CommitCheck {
  return { problem: describe('COMMIT_UNCHECKED', `cannot check the commit: ${why}`) };
}

function describe(code: string, message: string): Problem {
  return { code, message, path: 'changes.commit' };
}
