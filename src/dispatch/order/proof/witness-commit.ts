import { leadsOut, listLinks, parseChanges, runGit } from '../../../orders/index.js';
import type { CommitFacts, FileChange } from '../../../orders/index.js';
import { withObjects } from './repository.js';
import type { CallGit, RepositoryStart } from './repository.js';

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

/** Asks git about a claimed commit: whether it is there, whether it is this order's work, and what it changes. */
export async function witnessCommit(start: RepositoryStart, claim: CommitClaim): Promise<CommitFacts> {
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

  if (commit === base || commit === start.head) return foreign('was there before the work began');
  // In a repository that had no commit, every one begins from nothing.
  const descends = start.isEmpty ? { code: 0 } : await call(['merge-base', '--is-ancestor', base, commit]);
  if (descends.code === 1) return foreign(`does not descend from ${base.slice(0, 12)}, where the work began`);
  if (descends.code !== 0) return { found: 'nothing', why: 'git could not compare it with where the work began' };

  const began = start.isEmpty ? [] : [`^${base}`, `^${start.head}`];
  const own = await countCommits(call, [commit, ...began]);
  const fresh = await countCommits(call, [commit, ...began, ...start.otherTips.map((tip) => `^${tip}`)]);
  if (own === undefined || fresh === undefined) return { found: 'nothing', why: 'git could not list its commits' };
  if (own === 0) return foreign('was there before the work began');
  if (fresh < own) {
    return foreign(
      `has ${own - fresh} of ${own} commits from other branches, tags or remotes that existed before the work began`,
    );
  }
  if (!(await isOnBranch(start.repoDir, commit))) return foreign('is on no branch of the repository (any more)');

  const diff = await call(['diff-tree', '-r', '-M', '--raw', '-z', '--no-abbrev', from, commit], {
    maxBytes: MAX_LISTING,
  });
  if (diff.code !== 0) return { found: 'nothing', why: 'its files could not be listed' };
  const files = parseChanges(diff.stdout);
  const linksOut = await findLinksOut(call, files);
  const lines = await countLines(call, from, commit);
  return { found: 'change', change: { commit, base, commits: fresh, files, lines, linksOut, madeBySluice } };
}

/** Counts changed lines, of every file as if it were text: what an agent calls binary has a size too. */
async function countLines(call: CallGit, from: string, commit: string): Promise<number | null> {
  const plain = ['--text', '--no-ext-diff', '--no-textconv', '-M'];
  const counted = await call(['diff-tree', '-r', ...plain, '--shortstat', from, commit]);
  if (counted.code !== 0) return null;
  const parts = [...counted.stdout.matchAll(/(\d+) (?:insertion|deletion)/g)];
  return parts.reduce((sum, [, lines]) => sum + Number(lines), 0);
}

async function countCommits(call: CallGit, revisions: readonly string[]): Promise<number | undefined> {
  const counted = await call(['rev-list', '--count', '--ignore-missing', '--stdin'], {
    input: `${revisions.join('\n')}\n`,
  });
  return counted.code === 0 ? Number(counted.stdout.trim()) : undefined;
}

/** Only what a branch holds can be reviewed: a commit that was replaced afterwards is not available to anyone. */
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

/** The symbolic links of a change that lead out of the repository; those beyond the first hundreds are not believed. */
export async function findLinksOut(call: CallGit, files: readonly FileChange[]): Promise<readonly string[]> {
  const links = listLinks(files);
  const out = links.slice(MAX_LINKS).map(({ path }) => path);
  for (const { path, blob } of links.slice(0, MAX_LINKS)) {
    const target = await call(['cat-file', 'blob', blob], { maxBytes: 8192 });
    if (target.code !== 0 || leadsOut(path, target.stdout)) out.push(path);
  }
  return out;
}
