import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leadsOut, listLinks, parseChanges, runGit } from '../../../orders/index.js';
import type { CommitFacts, FileChange, WitnessedChange } from '../../../orders/index.js';
import { makeGitDir } from '../git-dir.js';
import { withObjects } from './repository.js';
import type { CallGit, RepositoryStart } from './repository.js';
import { takeObjects } from './take-objects.js';

/** A claimed commit and what it is compared with. */
export interface CommitClaim {
  readonly commit: string;
  /** Where the work began; for a retry, that of the first order. */
  readonly base: string;
  /** The commit that the change is shown against: `base`, or where this run began if that has the work of others. */
  readonly from: string;
  readonly madeBySluice: boolean;
}

const HASH = /^[0-9a-f]{4,64}$/;
/** About 50,000 files. */
const MAX_LISTING = 8 * 1024 * 1024;
const MAX_LINKS = 200;

/** Asks git about a claimed commit: whether it exists, whether it is this order's work, and what it changes. */
export async function examineCommit(start: RepositoryStart, claim: CommitClaim): Promise<CommitFacts> {
  if (!HASH.test(claim.commit)) return { found: 'missing', commit: claim.commit };
  try {
    return await withObjects(start, async (call) => examine(start, claim, call));
  } catch (error) {
    return { found: 'nothing', why: `git failed: ${String(error)}` };
  }
}

async function examine(start: RepositoryStart, claim: CommitClaim, call: CallGit): Promise<CommitFacts> {
  const { base, from, madeBySluice } = claim;
  const resolved = await call(['rev-parse', '--quiet', '--verify', `${claim.commit}^{commit}`]);
  if (resolved.code === 'failed' || resolved.code === 'no_git') return { found: 'nothing', why: 'git did not answer' };
  if (resolved.code !== 0) return { found: 'missing', commit: claim.commit };
  const commit = resolved.stdout.trim();
  const foreign = (why: string): CommitFacts => ({ found: 'foreign', commit, why });

  if (commit === base || commit === start.head) return foreign('existed before the work began');
  const began = start.isEmpty ? [] : [`^${base}`, `^${start.head}`];
  const listing = ['diff-tree', '-r', '-M', '--raw', '-z', '--no-abbrev', from, commit];
  // Side by side: none of these questions needs the answer to another one, and each takes a process.
  const [descends, own, fresh, forged, isReviewable, diff, twin, lines, origin] = await Promise.all([
    // In a repository that had no commits, every commit starts from an empty tree.
    start.isEmpty ? { code: 0 } : call(['merge-base', '--is-ancestor', base, commit]),
    countCommits(call, [commit, ...began]),
    countCommits(call, [commit, ...began, ...start.otherTips.map((tip) => `^${tip}`)]),
    findForgery(start, base, commit),
    isOnBranch(start.repoDir, commit),
    call(listing, { maxBytes: MAX_LISTING }),
    findTwin(call, start.foreignTips, commit),
    countLines(call, from, commit),
    readOrigin(call, base, [commit, ...began]),
  ]);
  if (descends.code === 1) return foreign(`does not descend from ${base.slice(0, 12)}, where the work began`);
  if (descends.code !== 0) return { found: 'nothing', why: 'git could not compare it with where the work began' };
  if (own === undefined || fresh === undefined) return { found: 'nothing', why: 'git could not list its commits' };
  if (own === 0) return foreign('existed before the work began');
  if (fresh < own) {
    return foreign(
      `has ${own - fresh} of ${own} commits from other branches, tags or remotes that existed before the work began`,
    );
  }
  if (forged !== undefined) return foreign(`cannot be trusted: ${forged}`);
  if (!isReviewable) return foreign('is on no branch of the repository (any more)');
  if (diff.code !== 0) return { found: 'nothing', why: 'its files could not be listed' };
  const files = parseChanges(diff.stdout);
  if (twin !== undefined) return foreign(`has exactly the files of ${twin.slice(0, 12)}, which existed before`);
  const [linksOut, scripts] = await Promise.all([
    findLinksOut(call, files),
    findChangedScripts(call, from, commit, files),
  ]);
  const change = { commit, base, commits: fresh, files, lines, ...origin, scripts, linksOut, madeBySluice };
  return { found: 'change', change };
}

const MAX_TWINS = 2000;

/** Another branch whose files the commit has: its work was merged as one commit, or copied. */
async function findTwin(call: CallGit, tips: readonly string[], commit: string): Promise<string | undefined> {
  const compared = [commit, ...tips.slice(0, MAX_TWINS)];
  const input = compared.map((tip) => `${tip}^{tree}\n`).join('');
  const found = await call(['cat-file', '--batch-check=%(objectname)'], { input, maxBytes: MAX_LISTING });
  const [own, ...others] = found.stdout.split('\n');
  const index = found.code === 0 ? others.indexOf(own ?? '') : -1;
  return index === -1 ? undefined : tips[index];
}

/** The authors of the commits as recorded in them, and whether any is dated before the commit that the work began from. */
async function readOrigin(
  call: CallGit,
  base: string,
  revisions: readonly string[],
): Promise<Pick<WitnessedChange, 'authors' | 'isBackdated'>> {
  const [listed, began] = await Promise.all([
    call(['log', '--no-color', '--max-count=100', '--format=%ct %an', ...revisions]),
    call(['log', '--no-color', '--max-count=1', '--format=%ct', base]),
  ]);
  const commits = listed.stdout.split('\n').filter(Boolean);
  const authors = [...new Set(commits.map((line) => line.slice(line.indexOf(' ') + 1)))];
  const isBackdated = began.code === 0 && commits.some((line) => Number.parseInt(line) < Number(began.stdout.trim()));
  return { authors: authors.slice(0, 3), isBackdated };
}

const MAX_PACKAGES = 50;
const MAX_PACKAGE_BYTES = 1024 * 1024;

/** The changed `package.json` files whose scripts differ; a file that cannot be read counts as changed. */
async function findChangedScripts(
  call: CallGit,
  from: string,
  commit: string,
  files: readonly FileChange[],
): Promise<readonly string[]> {
  const read = async (revision: string, path: string): Promise<string> => {
    const found = await call(['cat-file', 'blob', `${revision}:${path}`], { maxBytes: MAX_PACKAGE_BYTES });
    if (typeof found.code === 'number' && found.code !== 0) return 'none';
    try {
      const { scripts }: { scripts?: unknown } = JSON.parse(found.stdout) as object;
      return JSON.stringify(scripts ?? null);
    } catch {
      return 'unreadable';
    }
  };
  const packages = files.filter(({ path }) => /(?:^|\/)package\.json$/.test(path));
  const changed = packages.slice(MAX_PACKAGES).map(({ path }) => path);
  for (const { path, oldPath = path } of packages.slice(0, MAX_PACKAGES)) {
    const [before, after] = [await read(from, oldPath), await read(commit, path)];
    if (before !== after || after === 'unreadable') changed.push(path);
  }
  return changed;
}

/** Counts changed lines, treating every file as text, so that marking a file as binary does not hide its size. */
async function countLines(call: CallGit, from: string, commit: string): Promise<number | null> {
  const plain = ['--text', '--no-ext-diff', '--no-textconv', '-M'];
  const counted = await call(['diff-tree', '-r', ...plain, '--shortstat', from, commit]);
  if (counted.code !== 0) return null;
  const parts = [...counted.stdout.matchAll(/(\d+) (?:insertion|deletion)/g)];
  return parts.reduce((sum, [, lines]) => sum + Number(lines), 0);
}

/** Whether commits and folders of a change are what their names say: a forged one could hide what was changed. */
async function findForgery(
  { objects, format, shallow, isEmpty }: RepositoryStart,
  base: string,
  commit: string,
): Promise<string | undefined> {
  const gitDir = await mkdtemp(join(tmpdir(), 'sluice-git-'));
  try {
    await makeGitDir(gitDir, format, shallow);
    const wanted = isEmpty ? { commits: [commit] } : { commits: [base, commit], between: [base, commit] as const };
    return (await takeObjects(gitDir, { objects, ...wanted, withoutFiles: true })).error;
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

async function countCommits(call: CallGit, revisions: readonly string[]): Promise<number | undefined> {
  const counted = await call(['rev-list', '--count', '--ignore-missing', '--stdin'], {
    input: `${revisions.join('\n')}\n`,
  });
  return counted.code === 0 ? Number(counted.stdout.trim()) : undefined;
}

/** Only a commit on a branch can be reviewed: one that was replaced afterwards is not available. */
async function isOnBranch(repoDir: string, commit: string): Promise<boolean> {
  const list = [
    'for-each-ref',
    '--count=1',
    '--format=%(refname)',
    `--contains=${commit}`,
    'refs/heads',
    'refs/remotes',
  ];
  const branches = await runGit(repoDir, list, { timeLimitMs: 120_000 });
  if (branches.code === 0 && branches.stdout.trim() !== '') return true;
  return (await runGit(repoDir, ['merge-base', '--is-ancestor', commit, 'HEAD'])).code === 0;
}

/** The symbolic links of a change that lead out of the repository; links beyond the first few hundred are not trusted. */
export async function findLinksOut(call: CallGit, files: readonly FileChange[]): Promise<readonly string[]> {
  const links = listLinks(files);
  const out = links.slice(MAX_LINKS).map(({ path }) => path);
  for (const { path, blob } of links.slice(0, MAX_LINKS)) {
    const target = await call(['cat-file', 'blob', blob], { maxBytes: 8192 });
    if (target.code !== 0 || leadsOut(path, target.stdout)) out.push(path);
  }
  return out;
}
